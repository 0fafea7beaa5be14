// Goroutines that call tick() 80,000 times in all, and never give way by themselves: the runtime interrupts them by SIGURG.
package main

import "fmt"

//go:noinline
func tick(n int) int {
	var room [16]int
	room[n&15] = n
	return room[(n+1)&15] + n
}

func main() {
	done := make(chan int)
	for g := 0; g < 4; g++ {
		go func() {
			sum := 0
			for i := 0; i < 20000; i++ {
				sum += tick(i)
			}
			done <- sum
		}()
	}
	for g := 0; g < 4; g++ {
		<-done
	}
	fmt.Println("calls 80000")
}
