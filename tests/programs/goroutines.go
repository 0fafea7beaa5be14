// Goroutines that move between threads; each prints its own number, as runtime.Stack has it.
package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

//go:noinline
func leaf(number int64) int64 { return number * 2 }

//go:noinline
func sleep(number int64) int64 {
	leaf(number)
	for i := 0; i < 5; i++ {
		time.Sleep(time.Millisecond)
		runtime.Gosched()
	}
	return leaf(number)
}

func main() {
	runtime.GOMAXPROCS(4)
	var done sync.WaitGroup
	for i := int64(0); i < 50; i++ {
		done.Add(1)
		go func(number int64) {
			defer done.Done()
			text := make([]byte, 100)
			words := strings.Fields(string(text[:runtime.Stack(text, false)]))
			sleep(number)
			fmt.Printf("own %d %s\n", number, words[1])
		}(i)
	}
	done.Wait()
}
