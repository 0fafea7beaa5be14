#pragma once
// Measures rows other than DIF's by two scripts on the same synthetic firings, one of which does more. The DIF in the difference
// has prices by then, so the rest is the price of the row:
//
//   price of the row = ((time of `with` - time of `without`) / firings - what the profile so far says of their difference) / uses
//
// In scripts P stands for the probe.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/calibrate/made_up_run.h"
#include "lab/calibrate/meter.h"

namespace dvm::lab {

// How a case is timed.
struct CaseTerms {
  double bytes = 0;                    // if not 0, n is measured, over so many bytes
  bool is_consumer = false;            // the consumer's time, a record
  double uses = 1;                     // of the row, that `with` has more
  unsigned memory = 0, frames = 0;     // as in RunSettings
  uint64_t most_firings = UINT64_MAX;  // a sample; fewer where the consumer takes long
  bool is_read = true, may_act = false;
  unsigned least_samples = 0;
  std::optional<bool> exists = {};  // a variable that is looked up. n is what it costs more, or less, if it does
};

struct ScriptCase : CaseTerms {
  runtime::Row row;
  std::string with, without;
};

// Rows that others need come first. For an engine that is not the default: only the rows that depend on the engine.
std::vector<ScriptCase> script_cases(runtime::EngineId engine = {});

// The script that a text stands for: <3|a{};|> is a0;a1;a2; and FEW and MANY are strings of few and of many letters.
std::string expanded(std::string text);

inline constexpr unsigned kPrintedKeys = 1;  // of an aggregation that is printed, unless a case says otherwise

// A script whose probe side or consumer is timed.
struct TimedScript {
  std::string text;
  RunSettings settings;
  bool is_consumer = false;
};
// Ns of a firing of each. Their samples are taken in turn, so that what else happens on the machine meets all of them.
std::vector<noise::Middle> time_scripts(Bench& bench, const std::string& series, std::span<const TimedScript> scripts,
                                        unsigned samples);

// The text with the calibrated probe for each P before a body or a predicate.
std::string with_probe(std::string text);

// The predicted cost of the probe side of a firing, in clocks.
double predicted_firing(const dif::Program& program, const vm::Profile& profile, const runtime::Execution& execution,
                        double event_bytes = 0);

}  // namespace dvm::lab
