// Values by their layout. Tested by tests/runtime/print.

#include "runtime/consumer/typed.h"

#include <algorithm>
#include <cstring>

#include "common/printable.h"
#include "runtime/consumer/datum.h"

namespace dvm::runtime {
namespace {

using dif::LayoutKind;
using Bytes = std::span<const std::byte>;

constexpr int kIndent = 4;

Bytes part(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

bool is_printable(std::byte b) { return b >= std::byte{' '} && b <= std::byte{'~'}; }

void append_character(std::string& out, char c) {
  if (is_printable(static_cast<std::byte>(c)))
    append(out, "'%c'", c);
  else if (c == 0)
    out += "'\\0'";
  else
    append(out, "'\\%03o'", static_cast<unsigned char>(c));
}

template <class Float>
Float as_float(Bytes bytes) {
  Float value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof(value), bytes.size()));
  return value;
}

void append_float(std::string& out, Bytes bytes) {
  if (bytes.size() == sizeof(float)) return append(out, "%+.7e", static_cast<double>(as_float<float>(bytes)));
  if (bytes.size() == sizeof(double)) return append(out, "%+.7e", as_float<double>(bytes));
  append(out, "%+.16Le", as_float<long double>(bytes));
}

class TypedText {
 public:
  TypedText(std::string& out, const dif::ValueLayout& layout, const MadePrinter& made)
      : out_(out), layout_(layout), made_(made) {}

  // A value with its type and, of a member, its name. bytes: of the record, or all.
  void line(size_t index, Bytes bytes, int indent) {
    const dif::LayoutNode& node = layout_[index];
    out_.append(static_cast<size_t>(indent * kIndent), ' ');
    out_ += node.type;
    if (!node.member.empty()) {
      if (!node.type.ends_with('*') && !node.type.ends_with(' ')) out_ += ' ';
      out_ += node.member;
      if (node.bits != 0) append(out_, " :%u", node.bits);
      out_ += " =";
    }
    out_ += ' ';
    value(index, part(bytes, node.offset, node.size == 0 ? UINT64_MAX : node.size), indent);
  }

 private:
  void value(size_t index, Bytes bytes, int indent) {
    const dif::LayoutNode& node = layout_[index];
    switch (node.kind) {
      case LayoutKind::character:
        return append_character(out_, static_cast<char>(integer_at(node, bytes)));
      case LayoutKind::floating:
        return append_float(out_, bytes);
      case LayoutKind::string:
        return text(bytes, index == 0);
      case LayoutKind::array:
        return array(index, bytes, indent);
      case LayoutKind::record:
        return record(index, bytes, indent);
      case LayoutKind::enumeration:
        return enumeration(node, bytes);
      case LayoutKind::unknown:
        out_ += "<unknown type>";
        return;
      case LayoutKind::function_pointer:
        return function(integer_at(node, bytes));
      case LayoutKind::integer:
      case LayoutKind::pointer:
        return number(integer_at(node, bytes));
    }
  }

  void number(uint64_t value) { append(out_, "%#llx", static_cast<unsigned long long>(value)); }

  void function(uint64_t address) {
    const std::string name = made_.target_function(address);
    name.empty() ? number(address) : static_cast<void>(out_ += name);
  }

  void enumeration(const dif::LayoutNode& node, Bytes bytes) {
    const int64_t number = enumeration_at(node, bytes);
    const std::string name = enumerator_name(node, number);
    name.empty() ? append(out_, "%lld", static_cast<long long>(number)) : static_cast<void>(out_ += name);
  }

  // Brackets mark an array that is a member.
  void text(Bytes bytes, bool is_whole) {
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    const std::string quoted = "\"" + printable({begin, ::strnlen(begin, bytes.size())}) + "\"";
    out_ += is_whole ? quoted : "[ " + quoted + " ]";
  }

  void array(size_t index, Bytes bytes, int indent) {
    const size_t element = index + 1;
    if (element >= end_of(layout_, index) || layout_[element].size == 0) return static_cast<void>(out_ += "[ ]");
    const dif::LayoutNode& inner = layout_[element];
    if (inner.kind == LayoutKind::character && is_string(bytes)) return text(bytes, layout_[index].member.empty());
    const bool is_record = inner.kind == LayoutKind::record;
    const uint64_t count = std::min<uint64_t>(layout_[index].count, bytes.size() / inner.size);
    out_ += "[ ";
    for (uint64_t i = 0; i < count; i++) {
      const Bytes one = part(bytes, i * inner.size, inner.size);
      if (i != 0) out_ += ", ";
      if (is_record) out_ += '\n', line(element, one, indent + 1);
      if (!is_record) value(element, one, indent);
    }
    out_ += is_record ? "\n" + std::string(static_cast<size_t>(indent * kIndent), ' ') + "]" : " ]";
  }

  void record(size_t index, Bytes bytes, int indent) {
    out_ += "{\n";
    for (size_t i = index + 1; i < end_of(layout_, index); i = end_of(layout_, i)) line(i, bytes, indent + 1), out_ += '\n';
    out_.append(static_cast<size_t>(indent * kIndent), ' ');
    out_ += '}';
  }

  std::string& out_;
  const dif::ValueLayout& layout_;
  const MadePrinter& made_;
};

}  // namespace

size_t end_of(const dif::ValueLayout& layout, size_t index) {
  size_t end = index + 1;
  while (end < layout.size() && layout[end].depth > layout[index].depth) end++;
  return end;
}

uint64_t integer_at(const dif::LayoutNode& node, std::span<const std::byte> bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(sizeof(value), bytes.size()));
  if (node.bits == 0) return value;
  return value >> node.shift & (node.bits >= 64 ? UINT64_MAX : (uint64_t{1} << node.bits) - 1);
}

// Enumerations of four bytes are an int, as in C.
int64_t enumeration_at(const dif::LayoutNode& node, std::span<const std::byte> bytes) {
  const uint64_t value = integer_at(node, bytes);
  if (node.bits == 0 && node.size == sizeof(int32_t)) return static_cast<int32_t>(value);
  const uint64_t width = node.bits != 0 ? node.bits : 8 * node.size;
  if (!node.is_signed || width == 0 || width >= 64) return static_cast<int64_t>(value);
  const uint64_t sign = uint64_t{1} << (width - 1);
  return static_cast<int64_t>((value ^ sign) - sign);
}

// Compared as the enumeration holds them: with or without a sign.
std::string enumerator_name(const dif::LayoutNode& node, int64_t value) {
  const uint64_t width = node.bits != 0 ? node.bits : 8 * node.size;
  const uint64_t mask = width == 0 || width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (const auto& [name, number] : node.enumerators)
    if (((static_cast<uint64_t>(number) ^ static_cast<uint64_t>(value)) & mask) == 0) return name;
  return {};
}

bool is_string(std::span<const std::byte> bytes) {
  const auto end = std::find_if_not(bytes.begin(), bytes.end(), is_printable);
  return end != bytes.end() && *end == std::byte{0};
}

// A structure ends at its brace; everything else has a line of its own.
void append_typed(std::string& out, const dif::ValueLayout& layout, std::span<const std::byte> bytes, const MadePrinter& made) {
  const size_t before = out.size();
  TypedText(out, layout, made).line(0, bytes, 0);
  make_printable(out, before, "\n");  // names of types and members come from the file
  if (layout[0].kind != LayoutKind::record) out += '\n';
}

}  // namespace dvm::runtime
