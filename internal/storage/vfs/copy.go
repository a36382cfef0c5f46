package vfs

import "io"

const copyBytes = 1 << 20

// Copy writes the content of src to a new file, durably except for its name.
func Copy(fs FS, src File, path string) error {
	dst, err := fs.Create(path)
	if err != nil {
		return err
	}
	defer dst.Close()
	buf := make([]byte, copyBytes)
	for at := int64(0); ; {
		n, err := src.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return err
		}
		if _, werr := dst.WriteAt(buf[:n], at); werr != nil {
			return werr
		}
		at += int64(n)
		if err == io.EOF {
			return dst.Datasync()
		}
	}
}
