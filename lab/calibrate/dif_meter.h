#pragma once
// How each row of DIF's tables is measured: by one DIF text that executes the row many times, and another that does all the rest.
// The cases are made from the tables: those of opcodes by the format, those of subroutines by the prototype.
//
//   left                    right               price
//   setup                   setup               (T of the left - T of the right) / copies
//   body  body  body ...    base  base ...      + rows of the right alone
//   ret                     ret                 - other rows of the left alone
//
// In texts {i} is the number of the copy, {s} a string with the letters that the size asks for, {n} its bytes. The clock is
// coarser than most rows, so a text is run many times between two readings, in turn with its base.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/calibrate/meter.h"

namespace dvm::lab {

struct DifCase {
  runtime::Row row;
  std::string setup = {};
  std::string body = {};
  std::string base = {};
  std::vector<runtime::Row> only_base = {}, only_body = {};
  bool by_size = false;                   // measured with two sizes, for m and n
  std::string body_of_change = {};        // for n of a store to a variable that may not exist: creates and deletes it
  std::optional<dif::Format> alike = {};  // if the work is that of others of this format, but for a number
  // Few, as in a script: some processors mispredict the returns of 48 equal calls in a row. Together they must fit in the scratch
  // space. 0: the setup alone is measured, against a firing without DIF.
  unsigned copies = 16;
  std::string end = "ret %r0\n";
};

// One for each row of vm::dif_rows() but those that DIF alone cannot measure.
std::vector<DifCase> dif_cases();
const std::vector<runtime::Row>& rows_without_text();

// The text with this number of copies of the part, and strings of `letters` letters.
std::string case_text(const DifCase& one, const std::string& part, unsigned copies, unsigned letters);

// Address of the captured memory that cases read: a string of `letters` letters.
inline constexpr unsigned long kCaptured = 0x1000;

using DifPrices = std::map<runtime::Row, vm::Price>;
// Makes one price of those of the same work, the lowest. The interpreter's jump to the next instruction takes up to four cycles
// more, by how the processor predicts it, and this changes from one series to the next.
void level(const std::vector<DifCase>& cases, DifPrices& prices);
// An error names the case that does not run.
Result<DifPrices> measure_dif(const std::vector<DifCase>& cases, Bench& bench);

}  // namespace dvm::lab
