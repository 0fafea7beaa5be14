// Covered by tests/runtime/scenarios/test_doctor.py.

#include "cmd/version.h"

#include <fmt/format.h>

#include "cmd/commit.h"
#include "dvm/vm/engine.h"
#include "runtime/backend/local/live.h"

namespace dvm::cmd {
namespace {

std::string engines_text() {
  std::string text;
  for (const vm::Engine& engine : vm::kEngines) {
    const std::string problem = engine.problem();
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", engine.name,
                        problem.empty() ? "" : fmt::format(" (not here: {})", problem.substr(0, problem.find('\n'))));
  }
  return text;
}

// Those of -x backend=agent are all.
std::string instruments_text() {
  dif::Options options;
  (void)options.set("backend", "agent");
  std::string text;
  for (const runtime::LiveInstrument& live : runtime::make_live_instruments(options))
    text += std::string(live.instrument->name()) + ", ";
  return text + "replay";
}

}  // namespace

std::string version_text() {
  return fmt::format("dvm {} (commit {})\nengines: {}\nbackends: local ({})", DVM_VERSION, DVM_COMMIT, engines_text(),
                     instruments_text());
}

}  // namespace dvm::cmd
