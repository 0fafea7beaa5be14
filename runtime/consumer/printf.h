#pragma once
// Formats of printf() and printa(), read once when the program is enabled.
//
//   % [@] [# + space - 0 ' ?] [width or *] [.precision or .*] [h hh l ll L w] conversion
//
// The parts before the conversion may come in any order. A precision of 0 means no precision.
//
// The conversions are those of dtrace. `d` and `i` take the sign from the argument's type. `u`, `o`, `x`, `X` and `p` are
// unsigned, of the argument's size. `c` and `s` print characters and strings. `C` and `S` escape them; `lc`, `wc`, `ls` and
// `ws` are wide. `e`, `E`, `f`, `g` and `G` print floating point. `Y` and `T` print a time in ns since 1970: local, or by RFC
// 822. `k` prints a stack, `a` and `A` a symbol. `I` prints the name of the host with an address (as text). `P` prints the name
// of the service with a port (in network order). An @ takes the next aggregation of printa() instead of a key. A ? stands for
// the width of an address. All other formats are rejected by compiler/sema/check_printf.cpp.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/consumer/datum.h"
#include "runtime/consumer/field.h"
#include "runtime/consumer/made.h"

namespace dvm::runtime {

struct PrintfConversion {
  std::string literal;  // the text before the conversion
  char kind = 0;        // the letter; 0: there is only the literal
  bool is_aggregation = false;
  FormatField field;
  bool width_given = false;      // by an argument: *
  bool precision_given = false;  // by an argument: .*
  bool is_wide = false;          // c, s: of wchar_t

  bool is_measured() const { return width_given || precision_given; }
};

class PrintfFormat {
 public:
  static Result<PrintfFormat> parse(std::string_view text);
  const std::vector<PrintfConversion>& pieces() const { return pieces_; }

 private:
  std::vector<PrintfConversion> pieces_;
};

// One value under one conversion, without its literal.
void append_converted(std::string& out, const PrintfConversion& conversion, const Datum& datum, const MadePrinter& made);
// The same for a value that is neither a stack nor a symbol.
void append_converted(std::string& out, const PrintfConversion& conversion, const Datum& datum);
// The same for an integer that is not recorded: the value of an aggregation.
void append_converted(std::string& out, const PrintfConversion& conversion, int64_t value);

// Values that a format takes one after the other: the arguments of printf(), the keys of printa().
class PrintfArguments {
 public:
  explicit PrintfArguments(std::span<const Datum> data) : left_(data) {}
  const Datum* next() {
    if (left_.empty()) return nullptr;
    const Datum* datum = left_.data();
    left_ = left_.subspan(1);
    return datum;
  }
  int next_number();

 private:
  std::span<const Datum> left_;
};

// The conversion with the width and precision from the arguments.
PrintfConversion measured(const PrintfConversion& piece, PrintfArguments& arguments);

// A whole printf(). to_terminal: control characters in arguments are escaped, except newlines and tabs.
void append_formatted(std::string& out, const PrintfFormat& format, std::span<const Datum> arguments, const MadePrinter& made,
                      bool to_terminal = false);

}  // namespace dvm::runtime
