// Reading .scripts files.

#include "tests/engines/script_case.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace dvm::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(DVM_SOURCE_DIR) / "tests/engines"))
    if (entry.path().extension() == ".scripts") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string identifier(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

constexpr const char* kCase = "=== ";

void read(const fs::path& path, std::vector<ScriptCase>& cases) {
  std::ifstream in(path);
  std::string* to = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kCase)) {
      cases.push_back({path.stem().string() + "_" + identifier(line.substr(4)), "", ""});
      to = &cases.back().script;
    } else if (line == "---" && to == &cases.back().script) {
      to = &cases.back().output;
    } else if (to != nullptr) {
      *to += line + '\n';
    } else if (!line.empty() && line[0] != '#') {
      throw std::runtime_error(path.string() + ": text before the first case: " + line);
    }
  }
}

// The text of a file with the outputs of its cases.
std::string rewritten(const fs::path& path, std::vector<ScriptCase>::const_iterator& next) {
  std::ifstream in(path);
  std::string text;
  bool is_output = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kCase)) is_output = false;
    if (!is_output) text += line + '\n';
    if (line != "---" || is_output) continue;
    is_output = true;
    text += next++->output;
  }
  return text;
}

}  // namespace

std::vector<ScriptCase> read_script_cases() {
  std::vector<ScriptCase> cases;
  for (const fs::path& path : files()) read(path, cases);
  return cases;
}

void write_outputs(const std::vector<ScriptCase>& cases) {
  auto next = cases.begin();
  for (const fs::path& path : files()) {
    const std::string text = rewritten(path, next);
    std::ofstream(path) << text;
  }
}

}  // namespace dvm::test
