// Where members lie. Tests: tests/runtime/scenarios/test_layout.py, which compares with the C compiler.
#include "compiler/types/layout.h"

#include <algorithm>

namespace dvm::compiler {

namespace {

uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// A record of the traced program or of the kernel comes without an alignment: its members give it. One that does not lie so is
// packed.
uint64_t alignment_of(const Type& type) {
  const Type& t = resolve(type);
  if (t.cls == TypeClass::array) return alignment_of(*t.target);
  if (t.cls != TypeClass::record) return t.align;
  t.find("");  // brings its members in
  uint64_t most = 1;
  for (const Field& field : t.fields) {
    uint64_t its = alignment_of(*field.type);
    while (field.offset % its != 0 || t.size % its != 0) its /= 2;
    most = std::max(most, its);
  }
  return most;
}

}  // namespace

void Layout::align_record(uint64_t alignment) { record_.align = std::max(record_.align, alignment); }

void Layout::extend(uint64_t end_bit) {
  bits_ = end_bit;
  largest_ = std::max(largest_, end_bit);
}

uint64_t Layout::place(uint64_t size, uint64_t alignment) {
  const uint64_t offset = record_.is_union ? 0 : align((bits_ + 7) / 8, alignment);
  align_record(alignment);
  extend((offset + size) * 8);
  return offset;
}

void Layout::add(std::string name, const Type* type) {
  const Type& t = resolve(*type);
  record_.fields.push_back({std::move(name), type, place(t.size, alignment_of(t)), 0, 0, 0});
}

void Layout::add_anonymous(const Type* record) {
  const Type& t = resolve(*record);
  const uint64_t offset = place(t.size, alignment_of(t));
  for (Field field : t.fields) {
    field.offset += offset;
    record_.fields.push_back(std::move(field));
  }
}

void Layout::add_bits(std::string name, const Type* type, unsigned width) {
  const Type& t = resolve(*type);
  const uint64_t unit = t.size * 8;
  uint64_t at = record_.is_union ? 0 : bits_;
  if (width == 0 || at / unit != (at + width - 1) / unit) at = align(at, unit);
  extend(at + width);
  if (name.empty()) return;
  align_record(t.align);
  record_.fields.push_back(
      {std::move(name), type, at / unit * t.size, width, static_cast<unsigned>(at % unit), static_cast<unsigned>(t.size)});
}

void Layout::close() {
  record_.size = align((largest_ + 7) / 8, record_.align);
  record_.is_complete = true;
  record_.is_open = false;
}

}  // namespace dvm::compiler
