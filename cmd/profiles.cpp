// Covered by tests/runtime/scenarios/test_cost.py.

#include "cmd/profiles.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "cmd/embedded.h"
#include "cmd/libraries.h"
#include "common/similar.h"
#include "dvm/vm/engine.h"
#include "runtime/backend/local/live.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

namespace fs = std::filesystem;

fs::path own_profiles() { return own_folder() / "profiles"; }

const EmbeddedFile* embedded_profile(const std::string& name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.folder == "profiles" && file.name == name + ".json") return &file;
  return nullptr;
}

std::vector<std::string> own_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    if (file.folder == "profiles") names.push_back(fs::path(file.name).stem());
  std::error_code error;
  for (fs::directory_iterator it(own_profiles(), error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".json") names.push_back(it->path().stem());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Error not_found(const std::string& name, int reason) {
  const std::vector<std::string> names = own_names();
  std::string message = fmt::format("failed to open profile {}: {}", name, std::strerror(reason));
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (const std::string& similar : similar_names(name, views)) message += fmt::format("\n    hint: did you mean '{}'?", similar);
  return {message};
}

Error not_calibrated(const std::string& path) {
  return {
      fmt::format("there is no profile of this machine{}\n    hint: 'dvm cost calibrate' measures one in a minute and a half; "
                  "pentium4-1700 is the "
                  "profile of a published machine",
                  path.empty() ? "" : " (" + path + ")")};
}

void warn_of(const std::string& file, const vm::Profile& profile) {
  if (const std::string much = disturbance(profile); !much.empty()) fmt::print(stderr, "dvm: warning: {}: {}\n", file, much);
  constexpr uint64_t kInterval = 5'000'000;
  if (profile.made_on == vm::Machine{}) return;
  const vm::Machine here = runtime::this_machine(DVM_VERSION);
  const auto differences = runtime::machine_differences(profile, here, runtime::tick_rate(kInterval));
  for (const std::string& difference : differences)
    fmt::print(stderr, "dvm: warning: {} was measured elsewhere: {}\n", file, difference);
  const std::string& build = profile.made_on.build;
  if (profile.made_on.version == here.version && !build.empty() && !here.build.empty() && build != here.build)
    fmt::print(stderr, "dvm: warning: {} was measured by another build of dvm; 'dvm cost calibrate' measures it again\n", file);
}

Result<vm::Profile> parse(std::string text, const std::string& path, bool warns) {
  std::vector<std::string> warnings;
  Result<vm::Profile> profile = runtime::parse_profile(std::move(text), path, warnings);
  if (!warns) return profile;
  for (const std::string& warning : warnings) fmt::print(stderr, "dvm: warning: {}\n", warning);
  if (profile) warn_of(path, *profile);
  return profile;
}

Result<vm::Profile> read_file_of_profile(const std::string& path, bool warns, const std::function<Error(int reason)>& not_there) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return not_there(EISDIR);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return not_there(errno ? errno : EIO);
  return parse(std::move(text).str(), path, warns);
}

}  // namespace

std::string default_profile_path() {
  const char* folder = std::getenv("XDG_CONFIG_HOME");
  if (folder != nullptr && *folder == '/') return fmt::format("{}/dvm/profile.json", folder);
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    if (const passwd* user = getpwuid(getuid())) home = user->pw_dir;
  return home == nullptr || *home == '\0' ? "" : fmt::format("{}/.config/dvm/profile.json", home);
}

Result<vm::Profile> read_profile(const std::string& name, bool warns) {
  if (name.empty()) {
    const std::string path = default_profile_path();
    if (path.empty()) return not_calibrated(path);
    return read_file_of_profile(path, warns, [&](int reason) {
      return reason == ENOENT || reason == ENOTDIR ? not_calibrated(path) : not_found(path, reason);
    });
  }
  const std::string beside = (own_profiles() / (name + ".json")).string();
  std::error_code error;
  const bool is_beside = name.find('/') == std::string::npos && fs::exists(beside, error);
  const EmbeddedFile* embedded = embedded_profile(name);
  if (embedded != nullptr && !is_beside) return parse(std::string(embedded->text), std::string(embedded->name), warns);
  const std::string path = is_beside ? beside : name;
  return read_file_of_profile(path, warns, [&](int reason) { return not_found(name, reason); });
}

std::string disturbance(const vm::Profile& profile) {
  constexpr double kMuch = 0.2;
  if (profile.disturbed <= kMuch) return "";
  return fmt::format(
      "a neighbour used the core during {:.0f} % of its measurements, in every pass, so these prices may be a tenth too high or "
      "more; calibrate again at another time",
      100 * profile.disturbed);
}

bool has_folder(const vm::Profile& profile, const std::string& folder) {
  const auto first = profile.prices().lower_bound(folder + "/");
  return first != profile.prices().end() && first->first.starts_with(folder + "/");
}

bool prices_engine(const vm::Profile& profile, runtime::EngineId engine) {
  const std::string folder(runtime::engine_folder(engine));
  return folder.empty() || has_folder(profile, folder);
}

Result<bool> predicts_agent(const dif::Options& options, const vm::Profile& profile) {
  if (!runtime::chooses_agent(options)) return false;
  if (has_folder(profile, "agent")) return true;
  if (options[dif::Option::backend] < 0) return false;
  return Error{
      fmt::format("profile {} has no prices of the backend agent\n    hint: 'dvm cost calibrate' measures them", profile.name)};
}

Result<runtime::Execution> execution_on(runtime::EngineId engine, const vm::Profile& profile) {
  runtime::Execution made = runtime::execution_of(profile);
  made.engine = engine;
  if (prices_engine(profile, engine)) return made;
  return Error{
      fmt::format("profile {} has no prices of engine {}\n    hint: 'dvm cost calibrate' measures them where LLVM is installed",
                  profile.name, runtime::engine_folder(engine))};
}

// The words of the option are "auto" and then the engines.
Result<runtime::Execution> execution_under(const dif::Options& options, const vm::Profile& profile) {
  const int64_t word = options[dif::Option::engine];
  return execution_on(static_cast<runtime::EngineId>(std::max<int64_t>(word - 1, 0)), profile);
}

std::string_view engine_word(const dif::Options& options) {
  return changes_engine(options) ? "auto" : vm::kEngines[static_cast<size_t>(options[dif::Option::engine]) - 1].name;
}

bool changes_engine(const dif::Options& options) { return options[dif::Option::engine] == 0; }

std::optional<runtime::Execution> later_execution(const dif::Options& options, const vm::Profile& profile) {
  if (!changes_engine(options)) return std::nullopt;
  const auto made = execution_on(runtime::EngineId::llvm, profile);
  return made ? std::optional(*made) : std::nullopt;
}

}  // namespace dvm::cmd
