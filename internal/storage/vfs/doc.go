// Package vfs is the file system as the store sees it: few operations, each with its durability
// spelled out.
//
// OS is the real one. Mem keeps files in memory and knows what has been synced, so that CrashClone
// can show what a power cut may leave behind. Errors wraps either and makes chosen operations fail.
package vfs
