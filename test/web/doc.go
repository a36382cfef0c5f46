// Package web tests the web page in a real Chromium (Debian: chromium-headless-shell) against the
// real binary. Screenshots of every view go to the folder screenshots.
//
// Each page that a test opens is watched: an error in the console, a script that
// fails, or a request to another host fails the test.
package web
