#pragma once
// Collects the errors and warnings of a script. Each kind is a row of kinds.def. Only render.cpp draws the caret.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/source/source_file.h"
#include "dvm/compiler/diagnostic.h"

namespace dvm::compiler {

enum class Tag : uint16_t {
#define DVM_DIAGNOSTIC(tag, text) tag,
#include "compiler/diagnostic/kinds.def"
};

std::string_view name(Tag tag);
std::optional<Tag> find_tag(std::string_view name);

class Diagnostics {
 public:
  explicit Diagnostics(std::vector<Diagnostic>& into) : into_(into) {}

  void set_source(const SourceFile* file) { file_ = file, in_file_ = 0; }
  // The part of the clause that is being checked: "action list" or "predicate". dtrace names it in messages about -n.
  // Returns the previous region.
  std::string_view set_region(std::string_view region) { return std::exchange(region_, region); }
  void error(Tag tag, Location where, std::string message, std::vector<std::string> hints = {});
  void warning(Tag tag, Location where, std::string message, std::vector<std::string> hints = {});
  // Runs `run` on a file of its own. Its errors are not errors of the script: the first message is returned, and all are dropped.
  // Empty: there was none.
  template <class Run>
  std::string attempt(const SourceFile& file, Run&& run) {
    const Diagnostics before = *this;
    const size_t count = into_.size();
    set_source(&file);
    run();
    const std::string message = into_.size() > count ? into_[count].message : "";
    into_.erase(into_.begin() + static_cast<std::ptrdiff_t>(count), into_.end());
    file_ = before.file_, region_ = before.region_, errors_ = before.errors_, in_file_ = before.in_file_;
    return message;
  }
  bool failed() const { return errors_ != 0; }
  unsigned errors() const { return errors_; }
  const SourceFile& file() const { return *file_; }

 private:
  void add(Severity severity, Tag tag, Location where, std::string message, std::vector<std::string> hints);

  std::vector<Diagnostic>& into_;
  const SourceFile* file_ = nullptr;
  std::string_view region_;
  unsigned errors_ = 0;
  unsigned in_file_ = 0;
};

}  // namespace dvm::compiler
