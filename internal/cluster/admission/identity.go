package admission

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/replica/transport"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

const (
	identityFile = "identity.pem"
	maxIdentity  = 64 << 10 // bytes of the file

	authorityYears = 10
	nodeLife       = 90 * 24 * time.Hour
	renewalPart    = 3 // a certificate is renewed when less than 1/renewalPart of its life is left
)

// ErrIdentity means that a file or an answer does not hold the identity of this node.
var ErrIdentity = errors.New("admission: not the identity of this node")

// Identity is the identity of a node in its cluster: its certificate, and the cluster's authority.
// Its methods may be called concurrently, except for two calls of Renew.
type Identity struct {
	cluster, node uint64
	authority     *authority.Authority
	root          *x509.Certificate // of the authority
	secret        []byte            // for tokens

	pair atomic.Pointer[tls.Certificate] // of the node; its chain ends with root

	// where the identity is stored
	fs  vfs.FS
	dir string
}

// Found creates the authority of a new cluster and the identity of its first node, and stores them
// in dir, which is created if it is missing. After a crash dir holds all of it or nothing. Errors:
// fs.ErrExist if dir holds an identity, those of the file system.
func Found(dir string, cluster, node uint64, now time.Time) error {
	return found(vfs.OS{}, dir, cluster, node, now)
}

func found(fsys vfs.FS, dir string, cluster, node uint64, now time.Time) error {
	if err := vacant(fsys, dir); err != nil {
		return err
	}
	a, err := authority.New(fmt.Sprintf("cluster-%016x.fiveways.internal", cluster), now, now.AddDate(authorityYears, 0, 0))
	if err != nil {
		return err
	}
	file, err := issue(a, cluster, node, now)
	if err != nil {
		return err
	}
	return create(fsys, dir, identityFile, file)
}

// issue creates a key and a certificate for a node, and returns the identity file.
func issue(a *authority.Authority, cluster, node uint64, now time.Time) ([]byte, error) {
	key, block, err := authority.NewKey()
	if err != nil {
		return nil, err
	}
	cert, err := a.SignNode(transport.NodeName(cluster, node), &key.PublicKey, now, now.Add(nodeLife))
	if err != nil {
		return nil, err
	}
	return encode(cert, block, a.Pair()), nil
}

// encode returns an identity file: the node's certificate and key, then the authority's.
func encode(cert, key []byte, by authority.Pair) []byte {
	return slices.Concat(cert, key, by.Cert, by.Key)
}

// decode parses an identity file, which must be that of this node. It does not check whether the
// certificates have expired. Errors: ErrIdentity.
func decode(file []byte, cluster, node uint64) (*Identity, error) {
	pair, err := tls.X509KeyPair(file, file) // both certificates, and the first key
	if err == nil && len(pair.Certificate) != 2 {
		err = fmt.Errorf("it has %d certificates, not 2", len(pair.Certificate))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	_, rest := pem.Decode(file)
	_, rest = pem.Decode(rest)
	a, err := authority.Load(authority.Pair{Cert: rest, Key: rest})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	root, err := x509.ParseCertificate(pair.Certificate[1])
	if err == nil {
		err = pair.Leaf.CheckSignatureFrom(root)
	}
	if err == nil {
		err = pair.Leaf.VerifyHostname(transport.NodeName(cluster, node))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	secret, err := a.Secret("fiveways join tokens")
	if err != nil {
		return nil, err
	}
	id := &Identity{cluster: cluster, node: node, authority: a, root: root, secret: secret}
	id.pair.Store(&pair)
	return id, nil
}

// vacant returns fs.ErrExist if a folder holds an identity.
func vacant(fsys vfs.FS, dir string) error {
	path := filepath.Join(dir, identityFile)
	_, err := fsys.Stat(path)
	if err == nil {
		err = fmt.Errorf("%s: %w", path, fs.ErrExist)
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("admission: %w", err)
}

// create writes a file durably into a folder, which it creates if necessary.
func create(fsys vfs.FS, dir, name string, file []byte) error {
	err := fsys.MkdirAll(dir)
	if err == nil {
		err = fsys.SyncDir(filepath.Dir(dir))
	}
	if err != nil {
		return fmt.Errorf("admission: %w", err)
	}
	return replace(fsys, dir, name, file)
}

func replace(fsys vfs.FS, dir, name string, file []byte) error {
	if err := vfs.Replace(fsys, filepath.Join(dir, name), file); err != nil {
		return fmt.Errorf("admission: %w", err)
	}
	return nil
}

// Load returns the identity stored in dir. Its certificate may have expired while the node was
// down: call Renew before using it. Errors: fs.ErrNotExist, ErrIdentity if it is damaged or belongs
// to another node, those of the file system.
func Load(dir string, cluster, node uint64) (*Identity, error) {
	return load(vfs.OS{}, dir, cluster, node)
}

func load(fsys vfs.FS, dir string, cluster, node uint64) (*Identity, error) {
	file, err := vfs.ReadSmall(fsys, filepath.Join(dir, identityFile), maxIdentity)
	if err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	id, err := decode(file, cluster, node)
	if err != nil {
		return nil, err
	}
	id.fs, id.dir = fsys, dir
	return id, nil
}

// TLS returns the configuration of the node's connections (transport.Options). Each handshake
// presents the current certificate, followed by the authority's, which newcomers need.
func (id *Identity) TLS() *tls.Config {
	pool := poolOf(id.root)
	return &tls.Config{
		RootCAs: pool, ClientCAs: pool, MinVersion: tls.VersionTLS13,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return id.pair.Load(), nil },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return id.pair.Load(), nil },
	}
}

func poolOf(root *x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool
}

// Renew replaces the node's certificate and key, first on disk and then in use, if less than a
// third of the certificate's life is left; that is 30 days. Existing connections are not affected.
// Errors: those of the file system; the node then keeps its current certificate.
func (id *Identity) Renew(now time.Time) (renewed bool, err error) {
	leaf := id.pair.Load().Leaf
	if leaf.NotAfter.Sub(now) >= leaf.NotAfter.Sub(leaf.NotBefore)/renewalPart {
		return false, nil
	}
	file, err := issue(id.authority, id.cluster, id.node, now)
	if err != nil {
		return false, err
	}
	fresh, err := decode(file, id.cluster, id.node)
	if err != nil {
		return false, err
	}
	if err := replace(id.fs, id.dir, identityFile, file); err != nil {
		return false, err
	}
	id.pair.Store(fresh.pair.Load())
	return true, nil
}

// hash returns the hash by which a token identifies the authority.
func hash(root *x509.Certificate) [sha256.Size]byte { return sha256.Sum256(root.Raw) }
