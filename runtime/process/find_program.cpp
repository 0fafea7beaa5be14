// Looks a program up in PATH, as execvp does. Covered by tests/unit/instrument/process_test.cpp.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/process/process.h"

namespace dvm::runtime {
namespace {

// 0, or why the file cannot be run.
int problem_with(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return errno;
  return S_ISREG(st.st_mode) && access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

// "" if it is in none of the folders.
std::string in_path(const std::string& word) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/bin:/usr/bin" : variable;
  for (bool more = true; more;) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    const std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, word);
    if (problem_with(path) == 0) return path;
    more = folder.size() < rest.size();
    if (more) rest.remove_prefix(folder.size() + 1);
  }
  return "";
}

}  // namespace

Result<std::string> find_program(const std::string& word) {
  const std::string path = word.find('/') == std::string::npos ? in_path(word) : word;
  const int problem = problem_with(path);
  if (problem != 0) return Error{fmt::format("failed to execute {}: {}", word, std::strerror(problem))};
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(path, ignored);
  return real.empty() ? path : real.string();
}

}  // namespace dvm::runtime
