// Go and C in one program.
package main

/*
__attribute__((noinline)) static long of_c(long a, long b) {
  __asm__ volatile("" ::: "memory");
  return a * 10 + b;
}
static long call_c(long a, long b) { return of_c(a, b) + 1; }
*/
import "C"
import "fmt"

//go:noinline
func ofGo(a, b int64) int64 { return int64(C.call_c(C.long(a), C.long(b))) }

func main() {
	var sum int64
	for i := int64(0); i < 10; i++ {
		sum += ofGo(100+i, i)
	}
	fmt.Println(sum)
}
