#include "cmd/read_results.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cmd/command.h"
#include "cmd/waiting.h"

namespace dvm::cmd {
namespace {

Status read_one(const std::string& path, view::Results& results) {
  const WaitMessage waiting("reading " + (path == "-" ? "standard input" : path));
  if (path == "-") return results.add("standard input", std::cin);
  std::ifstream file(path);
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) errno = EISDIR, file.setstate(std::ios::failbit);
  if (!file) return Error{fmt::format("failed to open {}: {}", path, std::strerror(errno))};
  return results.add(path, file);
}

}  // namespace

Status read_results(const std::vector<std::string>& files, view::Results& results) {
  for (const std::string& path : files)
    if (Status read = read_one(path, results); !read) return read;
  for (const std::string& name : results.unfinished()) tell("{} has no last line: the run was killed, or its file was cut", name);
  for (const auto& [name, runs] : results.repeated())
    tell("{} holds {} runs, which are added up: -o appends to a file", name, runs);
  return {};
}

}  // namespace dvm::cmd
