#pragma once
// Live validation as a table, as JSON, and as a Markdown page with drawings.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "lab/validate/live_validation.h"

namespace dvm::cmd {

struct Validation {
  const vm::Profile& profile;
  std::string machine, date;
  bool quick = false;
  std::vector<lab::LiveResult> rows;
  std::vector<long> marker_bytes;  // a nop, a load-test-branch, a semaphore; empty: not asked
};

void print_validation(std::FILE* out, const Validation& validation);
std::string validation_json(const Validation& validation);
// A page and its drawings, by file name; `stem` begins their names.
std::string validation_page(const Validation& validation, const std::string& stem);
std::vector<std::pair<std::string, std::string>> validation_drawings(const Validation& validation, const std::string& stem);

}  // namespace dvm::cmd
