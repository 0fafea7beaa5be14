// Values as dtrace prints them without a format. Tested by tests/unit/runtime/datum_test.cpp.

#include "runtime/consumer/datum.h"

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/printable.h"
#include "runtime/consumer/field.h"
#include "runtime/consumer/floating.h"

namespace dvm::runtime {
namespace {

constexpr int kTraceWidth = 33;
constexpr int kKeyWidth = 50;
constexpr int kPackedKeyWidth = 16;

bool is_text_byte(std::byte b) {
  int c = std::to_integer<int>(b);
  return std::isprint(c) || std::isspace(c) || c == '\b' || c == '\a';
}

// Text up to a NUL behind which only NULs follow, or all text. False: it is no text.
bool looks_like_text(std::span<const std::byte> bytes, size_t& length) {
  auto end = std::find_if_not(bytes.begin(), bytes.end(), is_text_byte);
  length = static_cast<size_t>(end - bytes.begin());
  return end == bytes.end() || (length > 0 && std::all_of(end, bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
}

void append_dump_line(std::string& out, std::span<const std::byte> bytes, size_t at) {
  append(out, "%*s%5zx:", 5, "", at);
  size_t end = std::min(at + 16, bytes.size());
  for (size_t i = at; i < end; i++) append(out, " %02x", std::to_integer<unsigned>(bytes[i]));
  for (size_t i = end; i < at + 16; i++) out += "   ";
  out += "  ";
  for (size_t i = at; i < end; i++) {
    char c = static_cast<char>(bytes[i]);
    out += c < ' ' || c > '~' ? '.' : c;
  }
  out += '\n';
}

// width: of the column; negative: text stands at its right. Of the control characters of a key, newlines and tabs are printed as
// they are: scripts have headings for keys.
void append_text(std::string& out, std::string_view given, int width, bool quiet, bool is_key) {
  const std::string text = is_key ? printable(given, kLayout) : std::string(given);
  if (quiet) {
    out += text;
    return;
  }
  const auto columns = static_cast<size_t>(std::abs(width));
  const std::string blanks(text.size() < columns ? columns - text.size() : 0, ' ');
  out += width < 0 ? " " + blanks : "  ";
  out += text;
  if (width > 0) out += blanks;
}

bool is_record(const dif::DataType& type) { return type.name.starts_with("struct ") || type.name.starts_with("union "); }

// Prints bytes as text if they look like text, otherwise as a dump.
void append_bytes(std::string& out, std::span<const std::byte> bytes, int width, const DatumStyle& style, bool is_key) {
  if (bytes.empty()) return;
  size_t length = 0;
  if (style.raw || !looks_like_text(bytes, length)) return append_dump(out, bytes);
  append_text(out, {reinterpret_cast<const char*>(bytes.data()), length}, width, style.quiet, is_key);
}

void append_string(std::string& out, const Datum& datum, int width, const DatumStyle& style, bool is_key) {
  if (!style.raw) return append_text(out, datum.text(), width, style.quiet, is_key);
  std::string padded(datum.text());
  padded.resize(std::max(padded.size(), style.string_bytes));
  append_dump(out, std::as_bytes(std::span(padded)));
}

// Columns of trace() by size of the integer.
int traced_width(size_t size, bool is_signed) {
  if (size == 8) return is_signed ? 19 : 20;
  return size == 4 ? 10 : size == 2 ? 5 : 3;
}
int key_width(size_t size) { return size == 8 ? 16 : size == 4 ? 8 : size == 2 ? 5 : 3; }

}  // namespace

void append(std::string& out, const char* format, ...) {
  char small[512];
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = std::vsnprintf(small, sizeof(small), format, arguments);
  va_end(arguments);
  if (length >= static_cast<int>(sizeof(small))) {
    size_t at = out.size();
    out.resize(at + static_cast<size_t>(length) + 1);
    std::vsnprintf(out.data() + at, static_cast<size_t>(length) + 1, format, again);
    out.pop_back();
  } else if (length > 0) {
    out.append(small, static_cast<size_t>(length));
  }
  va_end(again);
}

std::string_view Datum::text() const {
  const char* begin = reinterpret_cast<const char*>(bytes.data());
  return {begin, ::strnlen(begin, bytes.size())};
}

void append_dump(std::string& out, std::span<const std::byte> bytes) {
  append(out, "\n%*s      ", 5, "");
  for (char c : std::string_view("0123456789abcdef")) append(out, "  %c", c);
  out += "  0123456789abcdef\n";
  for (size_t at = 0; at < bytes.size(); at += 16) append_dump_line(out, bytes, at);
}

DatumStyle datum_style(const dif::Options& options) {
  return {options[dif::Option::quiet] > 0, options[dif::Option::rawbytes] > 0,
          static_cast<size_t>(std::max<int64_t>(options[dif::Option::strsize], 0)) + 1};  // with the NUL
}

void append_traced(std::string& out, const Datum& datum, const DatumStyle& style) {
  if (datum.is_string()) return append_string(out, datum, kTraceWidth, style, false);
  if (is_record(*datum.type)) return append_dump(out, datum.bytes);
  if (!datum.is_integer()) return append_bytes(out, datum.bytes, kTraceWidth, style, false);
  const int width = style.quiet ? -1 : traced_width(datum.bytes.size(), datum.type->is_signed);
  if (!style.quiet) out += ' ';
  if (is_floating(*datum.type)) return append(out, "%*g", style.quiet ? 0 : width, floating_value(datum.bytes));
  if (datum.type->is_signed)
    append_signed(out, {.width = width}, datum.signed_value());
  else
    append_unsigned(out, {.width = width}, datum.unsigned_value());
}

// dtrace prints keys of 4 and 8 bytes signed and smaller ones unsigned, whatever their type.
void append_key(std::string& out, const Datum& datum, const DatumStyle& style, bool packed) {
  const int width = packed ? -kPackedKeyWidth : kKeyWidth;
  if (datum.is_string()) return append_string(out, datum, width, style, true);
  if (!datum.is_integer()) return append_bytes(out, datum.bytes, width, style, true);
  bool is_wide = datum.bytes.size() >= 4;
  out += ' ';
  if (is_floating(*datum.type)) return append(out, "%*g", key_width(datum.bytes.size()), floating_value(datum.bytes));
  append_signed(out, {.width = key_width(datum.bytes.size())},
                is_wide ? datum.signed_value() : static_cast<int64_t>(datum.unsigned_value()));
}

int packed_key_width(const Datum& datum) { return datum.is_integer() ? key_width(datum.bytes.size()) : kPackedKeyWidth; }

}  // namespace dvm::runtime
