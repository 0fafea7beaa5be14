#pragma once
// How each row of DIF's tables is measured: a text that executes it many times over, and one that does all the same but this.
// What lies between them is the row's. Cases are made from the tables: of opcodes by their format, of subroutines by their
// prototype.
//
//   setup                         setup                  (T of the left - T of the right) / copies
//   body  body  body ...          base  base ...         + the rows that only the right one has
//   ret                           ret                    - the rows that only the left one has besides
//
// In texts {i} is the number of the copy, {s} a string of so many letters as the size asks for, {n} their number.

#include <string>
#include <vector>

#include "runtime/cost/rows.h"

namespace dvm::runtime {

struct DifCase {
  Row row;
  std::string setup = {};
  std::string body = {};
  std::string base = {};
  std::vector<Row> only_base = {}, only_body = {};
  bool by_size = false;  // measured with two sizes: m and n
  // Of a variable that may be there or not, one of them, for n: a setup with which the body does not find it; or a body that has
  // it come and go.
  std::string setup_without = {}, body_of_change = {};
  unsigned copies = 128;  // 0: the setup alone is measured, against a firing without DIF
  std::string end = "ret %r0\n";
};

// One for each row of vm::dif_rows() but those of uncalibrated_rows(), and ret, which is measured where it matters: in scripts.
std::vector<DifCase> dif_cases();

// Rows that are not measured, and cost nothing in a calibrated profile, with the reason.
struct Uncalibrated {
  Row row;
  const char* reason;
};
std::vector<Uncalibrated> uncalibrated_rows();

// The text with so many copies of the part, and strings of `letters` letters.
std::string case_text(const DifCase& one, const std::string& part, unsigned copies, unsigned letters);

// Where captured memory of the process lies that cases read: a string of `letters` letters.
inline constexpr unsigned long kCaptured = 0x1000;

}  // namespace dvm::runtime
