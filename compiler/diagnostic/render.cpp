// A diagnostic as text: dtrace's line first, then the source line, its caret and the hints.
// Tests: tests/unit/compiler/source_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "common/columns.h"
#include "common/printable.h"
#include "common/program_name.h"
#include "dvm/compiler/compile.h"

namespace dvm::compiler {

namespace {

constexpr size_t kMaxLine = 160;  // of a source line that is shown

std::string headline(const Diagnostic& d, const Source& source, bool show_tag) {
  const std::string tag = show_tag ? fmt::format("[{}] ", d.tag) : "";
  std::string where;
  if (!d.origin.empty() || d.file != source.name)
    where = fmt::format("\"{}\", line {}: ", d.origin.empty() ? d.file : d.origin, d.line);
  else if (!source.is_description)
    where = fmt::format("line {}: ", d.line);
  else if (!d.region.empty())
    where = fmt::format("in {}: ", d.region);
  if (d.severity == Severity::warning) return fmt::format("{}: warning: {}{}{}\n", g_program_name, tag, where, d.message);
  if (source.is_description)
    return fmt::format("{}: invalid probe specifier {}: {}{}{}\n", g_program_name, source.name, tag, where, d.message);
  return fmt::format("{}: failed to compile script {}: {}{}{}\n", g_program_name, source.name, tag, where, d.message);
}

// In UTF-8, bytes of a character after the first have the form 10xxxxxx.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

size_t begin_of_character(std::string_view text, size_t at) {
  constexpr size_t kMostBytes = 4;  // of a character; the text may not be UTF-8
  for (size_t n = 1; n < kMostBytes && at > 0 && at < text.size() && continues_character(text[at]); n++) at--;
  return at;
}

// As much of the text from there on as is shown, in whole characters.
std::string cut(const std::string& text, size_t first) {
  return text.substr(first, begin_of_character(text, first + kMaxLine) - first);
}

// The part of the line that is shown, with control characters and tabs as blanks so that the caret stands right.
std::string caret(const Diagnostic& d) {
  if (d.source_line.empty()) return "";
  size_t first = d.column > kMaxLine ? d.column - kMaxLine / 2 : 0;
  if (first >= d.source_line.size()) return "";
  first = begin_of_character(d.source_line, first);
  std::string line = cut(d.source_line, first);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  const size_t at = begin_of_character(line, std::min<size_t>(d.column - 1 - first, line.size()));
  const std::string before = printable(line.substr(0, at)), marked = printable(line.substr(at, d.length));
  return fmt::format("    {}\n    {}^{}\n", printable(line), std::string(terminal_columns(before), ' '),
                     std::string(std::max<size_t>(1, terminal_columns(marked)) - 1, '~'));
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const Source& source, bool show_tag) {
  std::string text = headline(diagnostic, source, show_tag) + caret(diagnostic);
  const size_t first = diagnostic.written.find_first_not_of(" \t");
  if (first != std::string::npos) text += fmt::format("    written as: {}\n", cut(diagnostic.written, first));
  for (const std::string& from : diagnostic.included_from) text += fmt::format("    included from {}\n", from);
  for (const std::string& hint : diagnostic.hints) text += fmt::format("    hint: {}\n", hint);
  return text;
}

namespace {

std::string stability(std::string_view title, const dif::Attributes& a) {
  return fmt::format("\n\t{}\n\t\tIdentifier Names: {}\n\t\tData Semantics:   {}\n\t\tDependency Class: {}\n", title,
                     dif::kStabilities[a.name], dif::kStabilities[a.data], dif::kClasses[a.cls]);
}

}  // namespace

std::string probe_report(const ProbeDescription& probe) {
  std::string types = probe.argument_types.empty() ? "\t\tNone\n" : "";
  for (size_t i = 0; i < probe.argument_types.size(); i++) types += fmt::format("\t\targs[{}]: {}\n", i, probe.argument_types[i]);
  return fmt::format("{}{}\n\tArgument Types\n{}\n", stability("Probe Description Attributes", probe.probe),
                     stability("Argument Attributes", probe.arguments), types);
}

std::string stability_report(const Source& source, const CompiledSource& compiled) {
  const std::string name = source.is_description ? source.name.substr(0, source.name.find_first_of("/{")) : source.name;
  return fmt::format("\nStability attributes for {} {}:\n{}{}\n", source.is_description ? "description" : "script", name,
                     stability("Minimum Probe Description Attributes", compiled.descriptions),
                     stability("Minimum Statement Attributes", compiled.statements));
}

}  // namespace dvm::compiler
