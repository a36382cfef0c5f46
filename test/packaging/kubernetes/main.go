// Command kubernetes checks a Helm chart as `helm lint` does, renders it with values (KEY=VALUE as
// in --set, @FILE as in --values FILE), strictly decodes the output as Kubernetes objects, and
// prints them as JSON.
//
// It is a separate module because of its dependencies.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const namespace = "queues"

func main() {
	log.SetFlags(0)
	values := map[string]any{}
	for _, set := range os.Args[2:] {
		if err := add(set, values); err != nil {
			log.Fatal(err)
		}
	}
	objects, err := render(os.Args[1], values)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(objects)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// add adds the values of KEY=VALUE, or of the file in @FILE.
func add(set string, values map[string]any) error {
	name, ok := strings.CutPrefix(set, "@")
	if !ok {
		return strvals.ParseInto(set, values)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, &values) // as helm does: numbers become float64
}

// render returns the objects of a chart. It is an error if lint finds anything.
func render(dir string, values map[string]any) (objects []runtime.Object, err error) {
	linted := lint.All(dir, values, namespace, true)
	for _, m := range linted.Messages {
		if m.Severity > support.InfoSev {
			return nil, m
		}
	}
	chart, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "mq", Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for part := range strings.SplitSeq(text, "\n---\n") {
			o, _, err := decoder.Decode([]byte(part), nil, nil)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			objects = append(objects, o)
		}
	}
	return objects, nil
}
