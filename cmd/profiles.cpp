// Covered by tests/runtime/scenarios/test_cost.py.

#include "cmd/profiles.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "cmd/libraries.h"
#include "common/similar.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

namespace fs = std::filesystem;

fs::path own_profiles() { return own_folder() / "profiles"; }

std::vector<std::string> own_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(own_profiles(), error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".json") names.push_back(it->path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

Error not_found(const std::string& name, int reason) {
  const std::vector<std::string> names = own_names();
  std::string message = fmt::format("failed to open profile {}: {}", name, std::strerror(reason));
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (const std::string& similar : similar_names(name, views)) message += fmt::format("\n    hint: did you mean '{}'?", similar);
  return {message};
}

}  // namespace

Result<vm::Profile> read_profile(const std::string& name) {
  const std::vector<std::string> names = own_names();
  const bool is_own = std::find(names.begin(), names.end(), name) != names.end();
  const std::string path = is_own ? (own_profiles() / (name + ".json")).string() : name;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return not_found(name, errno ? errno : EIO);
  std::vector<std::string> warnings;
  Result<vm::Profile> profile = runtime::parse_profile(std::move(text).str(), path, warnings);
  for (const std::string& warning : warnings) fmt::print(stderr, "dvm: warning: {}\n", warning);
  return profile;
}

}  // namespace dvm::cmd
