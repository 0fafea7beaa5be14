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

// Number 0 is the only one at first. While it sleeps, another goroutine takes its thread for good, so it continues in another one.
func main() {
	runtime.GOMAXPROCS(1)
	var first, done sync.WaitGroup
	asleep := make(chan bool)
	go func() {
		<-asleep
		runtime.LockOSThread()
		done.Wait()
	}()
	start := func(number int64) {
		done.Add(1)
		go func() {
			defer done.Done()
			text := make([]byte, 100)
			words := strings.Fields(string(text[:runtime.Stack(text, false)]))
			if number == 0 {
				defer first.Done()
				close(asleep)
			}
			sleep(number)
			fmt.Printf("own %d %s\n", number, words[1])
		}()
	}
	first.Add(1)
	start(0)
	first.Wait()
	runtime.GOMAXPROCS(4)
	for i := int64(1); i < 50; i++ {
		start(i)
	}
	done.Wait()
}
