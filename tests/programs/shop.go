// Functions of Go with arguments of every kind; many goroutines whose stacks grow. What it prints is what a tracer must find.
package main

import (
	"errors"
	"fmt"
	"sync"
)

type Item struct {
	Name  string
	Price int64
}

type Shop struct{ total int64 }

type Pair struct {
	small int32
	flag  uint8
	large int64
}

//go:noinline
func (s *Shop) Put(price int64, item Item, tags []int32) int64 {
	s.total += price
	return s.total + int64(len(item.Name)) + int64(len(tags))
}

//go:noinline
func greet(name string, list []int64, any interface{}) (string, error) {
	if len(list) == 0 {
		return "", errors.New("no list")
	}
	return name[1:], nil
}

//go:noinline
func mix(pair Pair, f float64, x int16, one [1]int64, two [2]int64, last uint8) (int64, bool) {
	return int64(pair.small) + pair.large + int64(f) + int64(x) + one[0] + two[1] + int64(last), pair.flag > 0
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j int64) int64 { return a + b + c + d + e + f + g + h + i + j }

//go:noinline
func leaf(n int64) int64 { return n * 2 }

//go:noinline
func deep(n int64, pad [64]int64) int64 {
	if n == 0 {
		return pad[3]
	}
	pad[n%64] = n
	return deep(n-1, pad) + 1
}

//go:noinline
func huge(n int64) int64 {
	var x [5000]int64
	for i := range x {
		x[i] = n + int64(i)
	}
	return x[n%5000] + leaf(n)
}

//go:noinline
func work(number int64, done *sync.WaitGroup) {
	deep(20, [64]int64{3: 9})
	huge(number)
	done.Done()
}

func main() {
	shop := &Shop{}
	for i := int64(0); i < 1000; i++ {
		shop.Put(i, Item{"apple", 3}, []int32{1, 2})
	}
	fmt.Println(greet("hello", []int64{4, 5}, 77))
	fmt.Println(greet("empty", nil, "x"))
	fmt.Println(mix(Pair{-5, 7, 1 << 40}, 2.5, -3, [1]int64{11}, [2]int64{1, 2}, 200))
	fmt.Println(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), shop.total)
	var done sync.WaitGroup
	for i := int64(0); i < 200; i++ {
		done.Add(1)
		go work(i, &done)
	}
	done.Wait()
}
