// Where members lie. Tests: tests/runtime/scenarios/test_layout.py, which compares with the C compiler.
#include "compiler/types/layout.h"

#include <algorithm>

namespace dvm::compiler {

namespace {

uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

// A record of the traced program or of the kernel comes without an alignment: its members give it. One that does not lie so is
// packed.
uint64_t alignment_of(const Type& type) {
  for (const Type* named = &type; named; named = named->alias)
    if (named->own_align) return named->own_align;
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

StructLayout::StructLayout(Type& record, bool is_packed, uint64_t alignment) : record_(record), is_packed_(is_packed) {
  record_.is_open = true;
  record_.align = alignment;
  if (is_packed || alignment > 1) record_.own_align = alignment;
}

void StructLayout::align_record(uint64_t alignment) { record_.align = std::max(record_.align, alignment); }

void StructLayout::extend(uint64_t end_bit) {
  bits_ = end_bit;
  largest_ = std::max(largest_, end_bit);
}

uint64_t StructLayout::place(uint64_t size, uint64_t alignment) {
  const uint64_t offset = record_.is_union ? 0 : align((bits_ + 7) / 8, alignment);
  align_record(alignment);
  extend((offset + size) * 8);
  return offset;
}

void StructLayout::add(std::string name, const Type* type, bool is_packed, uint64_t alignment) {
  const uint64_t natural = is_packed || is_packed_ ? 1 : alignment_of(*type);
  const uint64_t offset = place(resolve(*type).size, std::max(natural, alignment));
  record_.fields.push_back({std::move(name), type, offset, 0, 0, 0});
}

void StructLayout::add_anonymous(const Type* record) {
  const Type& t = resolve(*record);
  const uint64_t offset = place(t.size, is_packed_ ? 1 : alignment_of(t));
  for (Field field : t.fields) {
    field.offset += offset;
    record_.fields.push_back(std::move(field));
  }
}

bool StructLayout::add_bits(std::string name, const Type* type, unsigned width) {
  const Type& t = resolve(*type);
  const uint64_t unit = t.size * 8;
  uint64_t at = record_.is_union ? 0 : bits_;
  if (is_packed_ && width != 0) return add_packed_bits(std::move(name), type, width, at);
  if (width == 0 || at / unit != (at + width - 1) / unit) at = align(at, unit);
  extend(at + width);
  if (name.empty()) return true;
  align_record(t.align);
  record_.fields.push_back(
      {std::move(name), type, at / unit * t.size, width, static_cast<unsigned>(at % unit), static_cast<unsigned>(t.size)});
  return true;
}

// The smallest unit that has all of its bits and ends where they end, so that no byte behind the record is touched.
bool StructLayout::add_packed_bits(std::string name, const Type* type, unsigned width, uint64_t at) {
  extend(at + width);
  if (name.empty()) return true;
  const uint64_t end = (at + width + 7) / 8;
  if (end - at / 8 > 8) return false;
  unsigned storage = 1;
  while (storage < 8 && storage < end - at / 8) storage *= 2;
  const uint64_t offset = end < storage ? 0 : std::min(at / 8, end - storage);
  record_.fields.push_back({std::move(name), type, offset, width, static_cast<unsigned>(at - offset * 8), storage});
  return true;
}

void StructLayout::close() {
  if (record_.own_align) record_.own_align = record_.align;
  record_.size = align((largest_ + 7) / 8, record_.align);
  record_.is_complete = true;
  record_.is_open = false;
}

}  // namespace dvm::compiler
