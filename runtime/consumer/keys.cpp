// Reading the keys of an aggregation. Tested by tests/unit/runtime/aggregation_test.cpp.

#include "runtime/consumer/keys.h"

#include <algorithm>
#include <cstring>

namespace dvm::runtime {
namespace {

// A stack as a key: the pid, the program counters and a zero.
size_t stack_bytes(std::span<const std::byte> key) {
  size_t at = 8;
  for (uint64_t word = 1; word != 0 && at + 8 <= key.size(); at += 8) std::memcpy(&word, key.data() + at, 8);
  return at;
}

}  // namespace

Datum KeyReader::next() {
  const dif::DataType& type = desc_.keys[next_];
  const dif::Action maker = next_ < desc_.key_makers.size() ? desc_.key_makers[next_] : dif::Action::expression;
  next_++;
  size_t size = type.size, taken = 8;
  if (dif::is_stack(maker)) size = stack_bytes(left_);
  if (type.kind == dif::TypeKind::string) {
    size = ::strnlen(reinterpret_cast<const char*>(left_.data()), left_.size());
    taken = (size + 8) & ~size_t{7};
  } else if (type.kind == dif::TypeKind::bytes) {
    taken = (size + 7) & ~size_t{7};
  }
  const Datum datum{&type, left_.first(std::min(size, left_.size())), maker};
  left_ = left_.subspan(std::min(taken, left_.size()));
  return datum;
}

std::vector<Datum> keys_of(const dif::AggregationDesc& desc, std::string_view key) {
  std::vector<Datum> keys;
  keys.reserve(desc.keys.size());
  for (KeyReader reader(desc, key); !reader.at_end();) keys.push_back(reader.next());
  return keys;
}

}  // namespace dvm::runtime
