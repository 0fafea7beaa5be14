// Collecting diagnostics and finding near names. Tests: tests/unit/compiler/source_test.cpp.
#include "compiler/diagnostic/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dvm::compiler {

namespace {

// What follows the hundredth error of a script is noise.
constexpr unsigned kMaxErrors = 100;

constexpr std::array kNames = {
#define DVM_DIAGNOSTIC(tag, text) std::string_view(#tag),
#include "compiler/diagnostic/kinds.def"
};

}  // namespace

std::string_view name(Tag tag) { return kNames[static_cast<unsigned>(tag)]; }

std::optional<Tag> find_tag(std::string_view name) {
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) return {};
  return static_cast<Tag>(it - kNames.begin());
}

void Diagnostics::error(Tag tag, Location where, std::string message, std::vector<std::string> hints) {
  errors_++;
  if (++in_file_ > kMaxErrors) return;
  add(Severity::error, tag, where, std::move(message), std::move(hints));
}

void Diagnostics::warning(Tag tag, Location where, std::string message, std::vector<std::string> hints) {
  add(Severity::warning, tag, where, std::move(message), std::move(hints));
}

void Diagnostics::add(Severity severity, Tag tag, Location where, std::string message, std::vector<std::string> hints) {
  const uint32_t size = static_cast<uint32_t>(file_->text().size());
  where.begin = std::min(where.begin, size);
  Diagnostic d;
  d.severity = severity;
  d.tag = name(tag);
  d.message = std::move(message);
  d.file = file_->source().name;
  const bool is_lexical = tag == Tag::D_MACRO_OFLOW || tag == Tag::D_MACRO_UNDEF;  // dtrace's lexer finds these
  d.region = is_lexical ? std::string_view() : region_;
  d.order = file_->line(where.begin);
  d.column = file_->column(where.begin);
  d.source_line = file_->line_text(d.order);
  const LineOrigin place = file_->place(where.begin);
  d.line = place.line;
  if (place.file != d.file) d.origin = place.file;
  for (const LineOrigin& from : place.included_from) d.included_from.push_back(fmt::format("{}, line {}", from.file, from.line));
  d.written = file_->written(place, d.source_line);
  const size_t rest = d.source_line.size() - std::min<size_t>(d.column - 1, d.source_line.size());
  d.length = static_cast<unsigned>(
      std::clamp<size_t>(where.end > where.begin ? where.end - where.begin : 1, 1, std::max<size_t>(rest, 1)));
  d.hints = std::move(hints);
  into_.push_back(std::move(d));
}

}  // namespace dvm::compiler
