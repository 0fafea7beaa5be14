#pragma once
// The consumer's side of a mapped BPF ring buffer. It consists of a page with the consumer's position (which dvm writes), a page
// with the producers' position, then the data, mapped twice in a row. See ring_view.h, which reads it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/ring_view.h"

namespace dvm::runtime {

// A shared mapping, unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping();
  static Result<Mapping> of(int fd, size_t bytes, bool writable, size_t at);

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Memory that a program and dvm share, zeros at first. dvm has it mapped.
class SharedMap {
 public:
  static Result<SharedMap> make(const char* name, uint32_t bytes, bool writable = false);

  int fd() const { return map_.get(); }
  // Once all programs that use it are loaded: the memory stays.
  void close() { map_ = FileDescriptor(); }
  std::byte* data() const { return mapping_.data(); }
  uint64_t word(size_t number = 0) const {
    return __atomic_load_n(reinterpret_cast<const uint64_t*>(data()) + number, __ATOMIC_RELAXED);
  }
  explicit operator bool() const { return data() != nullptr; }

 private:
  FileDescriptor map_;
  Mapping mapping_;
};

class Ring {
 public:
  // bytes: rounded up to what the kernel takes.
  static Result<std::unique_ptr<Ring>> make(size_t bytes);

  int ring_fd() const { return ring_.get(); }
  int drops_fd() const { return drops_.fd(); }
  uint64_t drops() const;  // of all CPUs
  uint64_t drops(uint32_t cpu) const { return drops_.word(cpu); }

  uint64_t consumed() const { return *view_.consumed; }  // bytes, since it was made
  double bytes() const { return static_cast<double>(view_.bytes); }

  template <class... Handle>
  uint64_t consume(Handle&&... handle) {
    return view_.consume(std::forward<Handle>(handle)...);
  }

 private:
  FileDescriptor ring_;
  SharedMap drops_;
  Mapping consumer_, producer_;
  RingView view_;
};

}  // namespace dvm::runtime
