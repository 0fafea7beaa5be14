// Records as text. Tested by tests/unit/runtime/consumer_test.cpp and tests/runtime.

#include "runtime/consumer/text_printer.h"

#include "common/printable.h"
#include "common/program_name.h"
#include "runtime/consumer/errors.h"
#include "runtime/consumer/typed.h"

namespace dvm::runtime {

void TextPrinter::print_heading() {
  has_heading_ = true;
  if (is_set(dif::Option::flowindent))
    append(output_.text(), "%3s %-41s\n", "CPU", "FUNCTION");
  else if (!is_set(dif::Option::quiet))
    append(output_.text(), "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
}

void TextPrinter::begin(const PrintedRecord& record) {
  if (!has_heading_) print_heading();
  std::string& out = output_.text();
  const Probe& probe = *record.ecb.probe;
  if (is_set(dif::Option::flowindent))
    return append(out, "%3d %-41s ", record.cpu, printable(flow_.column(record.ecb, record.next)).c_str());
  if (is_set(dif::Option::quiet)) return;
  append(out, "%3d %6u %32s ", record.cpu, probe.id, printable(probe.function + ":" + probe.name).c_str());
}

void TextPrinter::end(const PrintedRecord&) {
  if (!is_set(dif::Option::quiet)) output_.text() += '\n';
}

void TextPrinter::print_values(const ActionPlan& action, std::span<const Datum> values) {
  if (action.kind == dif::Action::tracemem) return append_dump(output_.text(), values[0].bytes);
  if (action.kind == dif::Action::print && !action.desc->layout.empty())
    return append_typed(output_.text(), action.desc->layout, values[0].bytes, made_);
  const DatumStyle style = datum_style(options_);
  const size_t begin = output_.text().size();
  for (const Datum& datum : values) {
    if (datum.is_made())
      made_.append(output_.text(), datum, stack_indent());
    else
      append_traced(output_.text(), datum, style);
  }
  if (output_.is_terminal()) make_printable(output_.text(), begin, kLayout);
}

void TextPrinter::print_formatted(const PrintfFormat& format, std::span<const Datum> values) {
  append_formatted(output_.text(), format, values, made_, output_.is_terminal());
}

void TextPrinter::print_error(const ErrorRecord& error) {
  const std::string hint = error_hint(error, enabling_);
  const bool is_new = !hint.empty() && hints_.insert(hint).second;
  print_notice(error_text(error, enabling_), std::span(&hint, is_new ? 1 : 0));
}

void TextPrinter::print_more_errors(const MoreErrors&, const std::string& message) { print_notice(message, {}); }

void TextPrinter::print_drop(const DropLine&, const std::string& message) { print_notice(message, {}); }

void TextPrinter::print_late_values(uint64_t, const std::string& message) { print_notice(message, {}); }

void TextPrinter::print_notice(const std::string& message, std::span<const std::string> hints) {
  output_.notices() += std::string(g_program_name) + ": " + printable(message, kLayout) + "\n";
  for (const std::string& hint : hints) output_.notices() += "    hint: " + printable(hint, kLayout) + "\n";
}

}  // namespace dvm::runtime
