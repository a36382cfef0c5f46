// Package serving has the commands that run the broker and show its settings.
package serving
