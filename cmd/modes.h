#pragma once
// What `dvm run` does in place of tracing, by the options of dtrace: tell the version of D (-V), write a header (-h) or an object
// (-G). Listing (-l) is cmd/listing.h.

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace dvm::cmd {

struct TracingOptions;

struct Modes {
  bool version = false, header = false, object = false, anonymous = false;
  std::string behind_6, behind_3;  // -64 and -32 are an option of one digit and its value
};

void add_modes(CLI::App& command, Modes& modes);

// The exit status, or nothing: the script is to be run or its probes listed.
std::optional<int> run_mode(const Modes& modes, const TracingOptions& given);

}  // namespace dvm::cmd
