// Reading formats and printing by them. Tested by tests/unit/runtime/printf_test.cpp.

#include "runtime/consumer/printf.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "common/printable.h"
#include "common/utf8.h"

namespace dvm::runtime {
namespace {

constexpr int kMostWidth = 65535;
constexpr int kAddressDigits = 16;

constexpr std::string_view kConversions = "diuoxXpcCsSYTeEfgGIPkaA";

class FormatReader {
 public:
  explicit FormatReader(std::string_view text) : text_(text) {}
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  char next() { return at_end() ? '\0' : text_[at_++]; }
  bool accept(char c) { return !at_end() && text_[at_] == c ? (at_++, true) : false; }
  int number() {
    int value = 0;
    while (peek() >= '0' && peek() <= '9') value = std::min(value * 10 + (next() - '0'), kMostWidth);
    return value;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// False: c is no modifier.
bool read_flag(char c, PrintfConversion& conversion) {
  FormatField& field = conversion.field;
  switch (c) {
    case '@':
      return conversion.is_aggregation = true;
    case '?':
      return field.width = kAddressDigits, true;
    case '-':
      return field.has_zeros = false, field.is_left = true;
    case '0':  // none beside -, in any order
      return field.has_zeros = !field.is_left, true;
    case '+':
      return field.has_plus = true;
    case ' ':
      return field.has_space = true;
    case '#':
      return field.is_alternate = true;
    case 'h':
    case 'L':
      return conversion.is_wide = false, true;
    case 'l':  // of lengths only that of wide characters says something here: else the argument's type does
    case 'w':
      return conversion.is_wide = true;
    default:
      return c == '\'';
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Flags, width, precision and lengths in any order, as dtrace reads them. A precision of 0 is none.
void read_modifiers(FormatReader& reader, PrintfConversion& conversion) {
  bool has_point = false, has_digits = false;
  for (;;) {
    if (reader.accept('*')) {
      (has_point ? conversion.precision_given : conversion.width_given) = true;
    } else if (reader.accept('.')) {
      has_point = true;
    } else if (is_digit(reader.peek()) && (has_point || has_digits || reader.peek() != '0')) {
      const int number = reader.number();
      if (has_point)
        conversion.field.precision = number == 0 ? -1 : number;
      else
        conversion.field.width = number;
      has_digits = true;
    } else if (!reader.at_end() && read_flag(reader.peek(), conversion)) {
      reader.next();
    } else {
      return;
    }
  }
}

// The format for C's printf(), for floating point.
std::string c_format(const FormatField& field, std::string_view tail) {
  std::string format = "%";
  if (field.is_left) format += '-';
  if (field.has_zeros) format += '0';
  if (field.has_plus) format += '+';
  if (field.has_space) format += ' ';
  if (field.is_alternate) format += '#';
  if (field.width >= 0) format += std::to_string(field.width);
  if (field.precision >= 0) format += "." + std::to_string(field.precision);
  return format.append(tail);
}

template <class Float>
Float as_float(const Datum& datum) {
  Float value{};
  std::memcpy(&value, datum.bytes.data(), std::min(sizeof(value), datum.bytes.size()));
  return value;
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void append_float(std::string& out, const PrintfConversion& c, const Datum& datum) {
  const char letter[] = {c.kind, 0}, long_double[] = {'L', c.kind, 0};
  if (datum.bytes.size() > sizeof(double))
    return append(out, c_format(c.field, long_double).c_str(), as_float<long double>(datum));
  const bool is_float = datum.bytes.size() == sizeof(float);
  append(out, c_format(c.field, letter).c_str(),
         is_float ? static_cast<double>(as_float<float>(datum)) : as_float<double>(datum));
}
#pragma GCC diagnostic pop

// With the NUL that ends it, as dtrace shows it.
std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) result += escaped_byte(c);
  return result + "\\0";
}

std::string time_text(int64_t nanoseconds, const char* format) {
  std::time_t seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  std::tm parts{};
  char text[128] = "";
  if (localtime_r(&seconds, &parts) == nullptr) return fmt::format("{}", nanoseconds);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  size_t length = std::strftime(text, sizeof(text), format, &parts);
#pragma GCC diagnostic pop
  return {text, length};
}

// Characters of 32 bits up to a zero.
std::string wide_text(std::span<const std::byte> bytes) {
  std::string text;
  for (; bytes.size() >= sizeof(uint32_t); bytes = bytes.subspan(sizeof(uint32_t))) {
    uint32_t c = 0;
    std::memcpy(&c, bytes.data(), sizeof(c));
    if (c == 0) break;
    append_utf8(text, c);
  }
  return text;
}

// The name of a service, else its port as a number.
std::string port_name(uint16_t port) {
  servent entry{}, *found = nullptr;
  char room[1024];
  if (getservbyport_r(htons(port), nullptr, &entry, room, sizeof(room), &found) == 0 && found) return found->s_name;
  return fmt::format("{}", port);
}

// The name of the host that the text of an address belongs to; else that text.
std::string host_name(const std::string& text) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_flags = AI_NUMERICHOST;
  if (getaddrinfo(text.c_str(), nullptr, &hints, &list) != 0) return text;
  char name[NI_MAXHOST] = "";
  const bool found = getnameinfo(list->ai_addr, list->ai_addrlen, name, sizeof(name), nullptr, 0, NI_NAMEREQD) == 0;
  freeaddrinfo(list);
  return found ? name : text;
}

// A string where a string is asked for; of anything else, its digits or its bytes as text.
std::string text_of(const Datum& datum) {
  return datum.is_integer() ? fmt::format("{}", datum.signed_value()) : std::string(datum.text());
}

void append_string(std::string& out, const PrintfConversion& c, const Datum& datum) {
  if (!c.is_wide && !datum.is_integer()) return append_text(out, c.field, datum.text());
  append_text(out, c.field, c.is_wide ? wide_text(datum.bytes) : text_of(datum));
}

void append_char(std::string& out, const PrintfConversion& c, const Datum& datum) {
  FormatField field = c.field;
  if (!c.is_wide) field.precision = -1;
  append_text(out, field, c.is_wide ? wide_text(datum.bytes) : std::string(1, static_cast<char>(datum.unsigned_value())));
}

void append_decimal(std::string& out, const PrintfConversion& c, const Datum& datum) {
  if (datum.type->is_signed)
    append_signed(out, c.field, datum.signed_value());
  else
    append_unsigned(out, c.field, datum.unsigned_value());
}

}  // namespace

Result<PrintfFormat> PrintfFormat::parse(std::string_view text) {
  PrintfFormat format;
  FormatReader reader(text);
  PrintfConversion current;
  while (!reader.at_end()) {
    char c = reader.next();
    if (c != '%') {
      current.literal += c;
      continue;
    }
    read_modifiers(reader, current);
    current.kind = reader.next();
    if (current.kind == '%') {
      current.literal += '%';
      std::string literal = std::move(current.literal);
      current = {};
      current.literal = std::move(literal);
      continue;
    }
    if (current.kind == 0 || kConversions.find(current.kind) == std::string_view::npos)
      return Error{fmt::format("a format has no conversion '%{}'", current.kind ? std::string(1, current.kind) : "")};
    format.pieces_.push_back(std::move(current));
    current = {};
  }
  if (!current.literal.empty()) format.pieces_.push_back(std::move(current));
  return format;
}

void append_converted(std::string& out, const PrintfConversion& c, const Datum& datum) {
  uint64_t value = datum.unsigned_value();
  switch (c.kind) {
    case 'd':
    case 'i':
      return append_decimal(out, c, datum);
    case 'u':
      return append_unsigned(out, c.field, value);
    case 'o':
      return append_unsigned(out, c.field, value, Base::octal);
    case 'x':
    case 'p':
      return append_unsigned(out, c.field, value, Base::hex);
    case 'X':
      return append_unsigned(out, c.field, value, Base::upper_hex);
    case 'c':
      return append_char(out, c, datum);
    case 'C':
      return append_text(out, c.field, escaped_byte(static_cast<char>(value)));
    case 's':
      return append_string(out, c, datum);
    case 'S':
      return append_text(out, c.field, escaped(text_of(datum)));
    case 'Y':
      return append_text(out, c.field, time_text(datum.signed_value(), "%Y %b %e %T"));
    case 'T':
      return append_text(out, c.field, time_text(datum.signed_value(), "%a, %d %b %Y %T %Z"));
    case 'P':
      return append_text(out, c.field, port_name(static_cast<uint16_t>(value)));
    case 'I':
      return append_text(out, c.field, host_name(text_of(datum)));
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return append_float(out, c, datum);
    default:  // parse() admits no other
      return;
  }
}

void append_converted(std::string& out, const PrintfConversion& c, int64_t value) {
  static const dif::DataType kType{dif::TypeKind::integer, true, false, 8, "int64_t"};
  append_converted(out, c, Datum{&kType, std::as_bytes(std::span(&value, 1))});
}

// Under %k a stack is indented by the width, if the field is left-aligned. A symbol is text, and so is an address under %A (of
// the traced program) and %a (of the kernel).
void append_converted(std::string& out, const PrintfConversion& c, const Datum& datum, const MadePrinter& made) {
  if (!datum.is_made() && c.kind == 'A') return append_text(out, c.field, made.target_text(datum.unsigned_value()));
  if (!datum.is_made() && c.kind == 'a') return append_text(out, c.field, made.kernel_text(datum.unsigned_value()));
  if (!datum.is_made()) return append_converted(out, c, datum);
  if (!dif::is_stack(datum.made_by)) return append_text(out, c.field, made.symbol_text(datum));
  made.append(out, datum, c.field.is_left ? c.field.width : 0);
}

int PrintfArguments::next_number() {
  const Datum* datum = next();
  return datum ? static_cast<int>(std::clamp<int64_t>(datum->signed_value(), -kMostWidth, kMostWidth)) : 0;
}

PrintfConversion measured(const PrintfConversion& piece, PrintfArguments& arguments) {
  PrintfConversion conversion = piece;
  FormatField& field = conversion.field;
  if (piece.width_given) field.width = arguments.next_number();
  if (piece.width_given && field.width < 0) field.is_left = true, field.width = -field.width;
  if (piece.precision_given) field.precision = arguments.next_number();
  if (field.precision == 0) field.precision = -1;
  return conversion;
}

void append_formatted(std::string& out, const PrintfFormat& format, std::span<const Datum> data, const MadePrinter& made,
                      bool to_terminal) {
  PrintfArguments arguments(data);
  for (const PrintfConversion& piece : format.pieces()) {
    out += piece.literal;
    if (piece.kind == 0) continue;
    const size_t begin = out.size();
    if (piece.is_measured()) {
      const PrintfConversion conversion = measured(piece, arguments);
      if (const Datum* datum = arguments.next()) append_converted(out, conversion, *datum, made);
    } else if (const Datum* datum = arguments.next()) {
      append_converted(out, piece, *datum, made);
    }
    if (to_terminal) make_printable(out, begin, kLayout);
  }
}

}  // namespace dvm::runtime
