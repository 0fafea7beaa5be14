#pragma once
// The rows that a profile may price, from the tables: those of DIF (dvm/vm/profile.h, operands.h) and
//
//   action/NAME  aggregation/NAME         vm/dif/actions.def, aggregations.def
//   record/KIND  key/KIND                 values that are kept (rows.cpp)
//   prepare/machine  prepare/dif          starting a firing; its machine state, if a clause has DIF to run
//   prepare/ecb  prepare/predicate        picking and starting one ECB; what one takes more that has a predicate
//   source/NAME/STAGE                     sources.def, flow_stages.def
//   resume/return                         a function that returns behind a firing, see kReturnRow
//   rested/process  rested/kernel         a thread's first firing behind a rest, see kRestedInProcess
//   capture/NAME                          captures.def
//   consumer/STEP                         consumer_steps.def
//   account/THING                         counting it, in a run with accounting (rows.cpp)

#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/action.h"

namespace dvm::runtime {

// Processors foretell where a function returns to, by the calls that they saw; a trap into the kernel makes some forget them. So
// what was entered before a firing returns more slowly behind it: each function once, unless others are called before.
inline constexpr std::string_view kReturnRow = "resume/return";

// What fires seldom finds in no cache what others have used meanwhile: the kernel's way to the probe, the capture program, the
// ring. So a thread's first firing behind a rest takes more in it: of a probe in a process, which is a trap, or of the kernel's.
inline constexpr std::string_view kRestedInProcess = "rested/process", kRestedInKernel = "rested/kernel";
// Times a second that a thread rests before it fires, where nothing is known of it: once in a millisecond, if it fires in it.
inline constexpr double kUsualRests = 1000;

struct CostRow {
  std::string_view name;
  std::string_view text;
};

const std::vector<CostRow>& sources();
const std::vector<CostRow>& flow_stages();
const std::vector<CostRow>& captures();
const std::vector<CostRow>& consumer_steps();
// Whether one of them is what the consumer does at such an action besides printing it.
bool has_consumer_step(const dif::ActionInfo& action);
// What keeping a value costs besides the action.
const std::vector<CostRow>& kept_values();
// What is counted in a run with accounting.
const std::vector<CostRow>& counted_things();

// All of them, in the order of the tables.
std::vector<std::string> price_rows();

}  // namespace dvm::runtime
