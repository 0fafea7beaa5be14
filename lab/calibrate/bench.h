#pragma once
// What meters work with: how scripts are compiled, how many samples are taken, and the book of the passes.

#include <cstdint>
#include <functional>
#include <string>

#include "common/result.h"
#include "dvm/dif/program.h"
#include "lab/noise/series_book.h"

namespace dvm::runtime {

using CompileScript = std::function<Result<dif::Program>(const std::string& text)>;

// Of DIF.
struct MeterOptions {
  unsigned samples = 15;              // of a text and of its base
  uint64_t sample_ns = 50'000;        // how long one takes, about
  noise::SeriesBook* book = nullptr;  // of the passes
};

// Of scripts on made-up firings.
struct ScriptMeterOptions {
  unsigned samples = 3;               // of each of the two scripts
  uint64_t firings = 50'000;          // a sample: their recording is larger than the caches of a CPU, as that of a long run is
  bool is_read = true;                // by the consumer, at the end
  bool may_act = false;               // destructively
  noise::SeriesBook* book = nullptr;  // of the passes
};

// Of scripts on the looping child.
struct LiveMeterOptions {
  unsigned samples = 3;               // with the probe, and as many without
  uint64_t calls = 3'000;             // a sample
  noise::SeriesBook* book = nullptr;  // of the passes
};

struct Bench {
  CompileScript compile;
  MeterOptions dif;
  ScriptMeterOptions scripts;
  LiveMeterOptions live;
  std::function<void(size_t done, size_t all)> progress = [](size_t, size_t) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};  // part of a meter failed
};

}  // namespace dvm::runtime
