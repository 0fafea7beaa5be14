#pragma once
// An array of zeros of fixed size, which takes memory only where something was written. Options may ask for far more than a
// script uses.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace dvm::vm {

template <class T>
class LazyArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Throws std::bad_alloc.
  explicit LazyArray(size_t size) : data_(static_cast<T*>(std::calloc(size == 0 ? 1 : size, sizeof(T)))), size_(size) {
    if (!data_) throw std::bad_alloc();
  }
  size_t size() const noexcept { return size_; }
  T* data() noexcept { return data_.get(); }
  T& operator[](size_t index) noexcept { return data_[index]; }

 private:
  struct Free {
    void operator()(T* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t size_;
};

}  // namespace dvm::vm
