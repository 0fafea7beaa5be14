// Records, action by action. Tested by tests/unit/runtime/consumer_test.cpp.

#include "runtime/consumer/consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/consumer/errors.h"
#include "runtime/consumer/field.h"
#include "runtime/consumer/json_printer.h"
#include "runtime/consumer/record_copies.h"
#include "runtime/consumer/text_printer.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

constexpr size_t kRecordsOfAPart = 64;

struct ActionRecord {
  const ActionPlan& action;
  const Ecb& ecb;
  const std::byte* record;

  Datum datum(size_t i) const {
    const ValuePlan& value = action.values[i];
    return {&value.type, {record + value.offset, value.size}, value.made_by};
  }
  size_t count() const { return action.values.size(); }
  std::span<const Datum> data(Consumer& consumer) const {
    std::vector<Datum>& all = consumer.data();
    all.resize(count());  // in their places: what is copied there in two halves is waited for
    for (size_t i = 0; i < count(); i++) all[i] = datum(i);
    consumer.count_values(all);
    return all;
  }
  std::span<const uint32_t> aggregations() const { return action.desc->aggregations; }
};

// The functions format_* that the rows of actions.def name: each does what the consumer has to do for a record of the action.

void format_trace(Consumer& consumer, const ActionRecord& action) {
  consumer.printer().print_values(action.action, action.data(consumer));
}
void format_print(Consumer& consumer, const ActionRecord& action) {
  format_trace(consumer, action);
  const Datum printed = action.datum(0);
  consumer.count(ConsumerStep::print, printed.is_integer() ? 0 : printed.bytes.size());
}

// Cuts the bytes to a recorded size, if that is smaller.
void format_tracemem(Consumer& consumer, const ActionRecord& action) {
  Datum memory = action.datum(0);
  const uint64_t wanted = action.count() > 1 ? action.datum(1).unsigned_value() : 0;
  if (wanted != 0 && wanted < memory.bytes.size()) memory.bytes = memory.bytes.first(wanted);
  consumer.count_values(std::span(&memory, 1));
  consumer.count(ConsumerStep::tracemem, memory.bytes.size());
  consumer.printer().print_values(action.action, std::span(&memory, 1));
}

void format_printf(Consumer& consumer, const ActionRecord& action) {
  consumer.count(ConsumerStep::printf);
  consumer.printer().print_formatted(consumer.format_of(action.action), action.data(consumer));
}

std::string formatted(Consumer& consumer, const ActionRecord& action) {
  std::string text;
  append_formatted(text, consumer.format_of(action.action), action.data(consumer), consumer.made());
  return text;
}

void format_system(Consumer& consumer, const ActionRecord& action) { consumer.run_command(formatted(consumer, action)); }

// The compiler writes freopen("") as a format of its own, which no script can write.
void format_freopen(Consumer& consumer, const ActionRecord& action) {
  const bool is_restored = action.action.desc->format == ".";
  consumer.reopen(is_restored ? "" : formatted(consumer, action), action.ecb);
}

void format_ftruncate(Consumer& consumer, const ActionRecord&) {
  consumer.count(ConsumerStep::ftruncate);
  consumer.truncate();
}

void format_setopt(Consumer& consumer, const ActionRecord& action) {
  consumer.count(ConsumerStep::setopt);
  const std::string value = action.count() > 1 ? std::string(action.datum(1).text()) : "1";
  consumer.set_option(std::string(action.datum(0).text()), value, action.ecb);
}

void format_printa(Consumer& consumer, const ActionRecord& action) {
  const PrintfFormat* format = action.action.desc->has_format ? &consumer.format_of(action.action) : nullptr;
  consumer.print_aggregations(action.aggregations(), format);
}

void format_clear(Consumer& consumer, const ActionRecord& action) {
  for (uint32_t id : action.aggregations()) {
    consumer.count(ConsumerStep::clear, consumer.keys_of(id));
    consumer.aggregations().clear(id);
  }
}

void format_trunc(Consumer& consumer, const ActionRecord& action) {
  int64_t count = action.count() > 0 ? action.datum(0).signed_value() : 0;
  for (uint32_t id : action.aggregations()) {
    const size_t keys = consumer.keys_of(id);
    consumer.aggregations().trunc(id, count);
    consumer.count(ConsumerStep::trunc, keys - consumer.keys_of(id));
  }
}

void format_normalize(Consumer& consumer, const ActionRecord& action) {
  int64_t normal = action.count() > 0 ? action.datum(0).signed_value() : 1;
  if (normal == 0) return consumer.notice("normalize() by zero was ignored");
  consumer.count(ConsumerStep::normalize);
  for (uint32_t id : action.aggregations()) consumer.aggregations().normalize(id, normal);
}

void format_denormalize(Consumer& consumer, const ActionRecord& action) {
  consumer.count(ConsumerStep::denormalize);
  for (uint32_t id : action.aggregations()) consumer.aggregations().normalize(id, 1);
}

// The session knows already what such a record is for.
void format_nothing(Consumer&, const ActionRecord&) {}

using FormatAction = void (*)(Consumer&, const ActionRecord&);
constexpr FormatAction format_none = nullptr;

FormatAction format_function(dif::Action kind) {
  switch (kind) {
#define DVM_ACTION(number, name, arguments, when, keeps, record, format, ...) \
  case dif::Action::name:                                                     \
    return format_##format;
#include "vm/dif/actions.def"
    default:
      return nullptr;
  }
}

// Absolute value of a number.
uint64_t magnitude(const Datum& datum) {
  if (!datum.type->is_signed) return datum.unsigned_value();
  const int64_t value = datum.signed_value();
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

bool has_stacks(const PrintedAggregations& printed) {
  const std::vector<dif::Action>& makers = printed.aggregations.front()->desc.key_makers;
  return std::any_of(makers.begin(), makers.end(), dif::is_stack);
}

bool needs_format(const dif::ActDesc& action) {
  const dif::ActionInfo* row = dif::find_action(action.kind);
  const bool requires_one = row && row->arguments.required() != 0 && row->arguments[0].type == dif::ArgumentType::format &&
                            !row->arguments[0].is_optional;
  return action.has_format || requires_one;
}

}  // namespace

Consumer::Consumer(std::FILE* out, std::FILE* err, dif::Options& options, const Enabling& enabling, bool as_json,
                   std::shared_ptr<UserSymbols> symbols, std::span<const NamedRow> named_rows)
    : output_(out, err), options_(options), enabling_(enabling), symbols_(std::move(symbols)) {
  if (as_json)
    printer_ = std::make_unique<JsonPrinter>(output_, options_, enabling_, made_, named_rows);
  else
    printer_ = std::make_unique<TextPrinter>(output_, options_, enabling_, made_);
}

void Consumer::copy_records(std::shared_ptr<RecordReader> reader) {
  if (copies_ == nullptr) {
    auto copies = std::make_unique<RecordCopies>(std::move(printer_), options_, made_);
    copies_ = copies.get();
    printer_ = std::move(copies);
  }
  copies_->add(std::move(reader));
}

Status Consumer::prepare() {
  if (options_[dif::Option::noresolve] > 0) made_.leave_unresolved();
  for (const EnabledAggregation& aggregation : enabling_.aggregations())
    aggregations_.declare(aggregation.desc, aggregation.words, aggregation.function->initial);
  for (const EcbPlan& plan : enabling_.plans())
    for (const dif::ActDesc& action : plan.desc.actions) {
      uses_aggregations_ |= !action.aggregations.empty() && !dif::find_aggregation(action.kind);
      if (!needs_format(action) || formats_.contains(&action)) continue;
      Result<PrintfFormat> format = PrintfFormat::parse(action.format);
      if (!format) return format.error();
      formats_.emplace(&action, std::move(*format));
    }
  return {};
}

const Ecb* Consumer::next_ecb(std::span<const std::byte> records) const {
  while (!records.empty()) {
    const RecordHeader header = header_of(records.data());
    if (header.epid != 0) return enabling_.ecb(header.epid);
    records = records.subspan(header.size);
  }
  return nullptr;
}

void Consumer::consume(std::vector<RecordLane> lanes) {
  RecordMerge merge(std::move(lanes), options_[dif::Option::temporal] > 0);
  for (size_t count = 1; merge.next(); count++) {
    if (count % kRecordsOfAPart == 0) between_();
    if (const Ecb* ecb = enabling_.ecb(header_of(merge.record()).epid)) {
      consume_record({*ecb, merge.cpu(), next_ecb(merge.following())}, merge.record());
    } else {
      ErrorRecord error;
      std::memcpy(&error, merge.record(), sizeof(error));
      if (errors_.admits(error, enabling_)) printer_->print_error(error);
    }
  }
}

void Consumer::consume_record(const PrintedRecord& record, const std::byte* bytes) {
  printer_->begin(record);
  for (const ActionPlan& action : record.ecb.plan->actions)
    if (FormatAction format = format_function(action.kind)) {
      count(ConsumerStep::action);
      format(*this, {action, record.ecb, bytes});
    }
  printer_->end(record);
}

void Consumer::count_values(std::span<const Datum> values) {
  if (counts_ == nullptr) return;
  for (const Datum& datum : values) {
    count(ConsumerStep::value, datum.is_integer() && !datum.is_made() ? decimal_digits(magnitude(datum)) : 0);
    if (datum.is_string() && !datum.is_made()) count(ConsumerStep::string);
    count_made(datum);
  }
}

// A step for each kind of what prints an address.
void Consumer::count_made(const Datum& datum) {
  switch (datum.made_by) {
    case dif::Action::stack:
      return count(ConsumerStep::stack);
    case dif::Action::ustack:
      return count(ConsumerStep::ustack, frames_of(datum).size());
    case dif::Action::usym:
      return count(ConsumerStep::usym);
    case dif::Action::uaddr:
      return count(ConsumerStep::uaddr);
    case dif::Action::umod:
      return count(ConsumerStep::umod);
    case dif::Action::ufunc:
      return count(ConsumerStep::ufunc);
    case dif::Action::sym:
      return count(ConsumerStep::sym);
    case dif::Action::func:
      return count(ConsumerStep::func);
    case dif::Action::mod:
      return count(ConsumerStep::mod);
    default:
      return;
  }
}

size_t Consumer::keys_of(uint32_t id) {
  const MergedAggregation* aggregation = aggregations_.find(id);
  return aggregation == nullptr ? 0 : aggregation->rows.size();
}

void Consumer::take(AggregationSource& source) {
  const size_t keys = aggregations_.take(
      source, [this](const MergedAggregation& aggregation, std::string& key) { made_.unify(aggregation.desc, key); });
  if (keys > 0) count(ConsumerStep::aggregation_build, keys), has_aggregated_ = true;
}

PrintedAggregations Consumer::printed(std::span<const uint32_t> ids, const PrintfFormat* format) {
  PrintedAggregations printed{{}, aggregations_.joined(ids, SortOrder(options_)), format};
  for (uint32_t id : ids)
    if (const MergedAggregation* aggregation = aggregations_.find(id)) printed.aggregations.push_back(aggregation);
  return printed;
}

void Consumer::print_aggregations(std::span<const uint32_t> ids, const PrintfFormat* format) {
  const PrintedAggregations all = printed(ids, format);
  count(ConsumerStep::printa, all.rows.size());
  printer_->print_aggregations(all);
  for (uint32_t id : ids)
    if (MergedAggregation* aggregation = aggregations_.find(id)) aggregation->is_printed = true;
}

void Consumer::print_unprinted() {
  std::vector<PrintedAggregations> rest;
  for (uint32_t id : aggregations_.unprinted(SortOrder(options_))) {
    rest.push_back(printed(std::span(&id, 1), nullptr));
    count(ConsumerStep::printa, rest.back().rows.size());
  }
  if (copy_ == nullptr || !copies_stacks_only_) printer_->print_unprinted(rest);
  if (copy_ == nullptr) return;
  const auto others = std::stable_partition(rest.begin(), rest.end(), has_stacks);
  if (copies_stacks_only_) printer_->print_unprinted({others, rest.end()});
  (void)flush();  // the copy may take long; the next flush says what became of this one
  write_copy({rest.begin(), others});
}

void Consumer::write_copy(std::span<const PrintedAggregations> copied) {
  Output output(copy_, copy_);
  for (const PrintedAggregations& one : copied) JsonPrinter(output, options_, enabling_, made_).print_in_parts(one);
  if (Status written = output.flush(); !written) notice(written.error().message);
}

void Consumer::report_more_errors() {
  for (const MoreErrors& more : errors_.more()) printer_->print_more_errors(more, more_errors_text(more));
}

bool Consumer::report_drops(const Drops& before, const Drops& now) {
  const std::vector<DropLine> lines = drops_between(before, now);
  for (const DropLine& drop : lines) printer_->print_drop(drop, drop_text(drop, options_[dif::Option::droptags] > 0));
  return !lines.empty();
}

void Consumer::run_command(const std::string& command) {
  count(ConsumerStep::system);
  (void)flush();  // the next flush says what became of it
  if (std::system(command.c_str()) == -1) notice(fmt::format("could not run '{}': {}", command, std::strerror(errno)));
}

void Consumer::reopen(const std::string& path, const Ecb& ecb) {
  count(ConsumerStep::freopen);
  if (path.empty()) return output_.restore();
  if (Status opened = output_.redirect(path); !opened)
    notice(fmt::format("error in {}: couldn't freopen() \"{}\": {}", place_text(ecb), path, opened.error().message));
}

void Consumer::set_option(const std::string& name, const std::string& value, const Ecb& ecb) {
  const Status status = options_.set(name, value, dif::OptionTime::dynamic);
  if (status) return;
  const dif::OptionInfo* row = dif::find_option(name);
  const bool may_be_meant = row == nullptr || row->when == dif::OptionTime::dynamic;
  notice(
      fmt::format("error in {}: couldn't set option \"{}\" to \"{}\": {}", place_text(ecb), name, value, status.error().message),
      may_be_meant ? dif::option_hints(name) : std::vector<std::string>());
}

}  // namespace dvm::runtime
