// Records to text, action by action. Tested by tests/unit/runtime/consumer_test.cpp.

#include "runtime/consumer/consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/consumer/errors.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

struct ActionRecord {
  const Action& action;
  const std::byte* record;

  Datum datum(size_t i) const {
    const Value& value = action.values[i];
    return {&value.type, {record + value.offset, value.size}, value.made_by};
  }
  size_t count() const { return action.values.size(); }
  std::span<const uint32_t> aggregations() const { return action.desc->aggregations; }
};

// format_<name>: what the consumer does for an action, one function a row of actions.def that leaves a record.

void format_trace(Consumer& consumer, const ActionRecord& action) {
  for (size_t i = 0; i < action.count(); i++) append_traced(consumer.text(), action.datum(i), consumer.is_quiet());
}

void format_made(Consumer& consumer, const ActionRecord& action) {
  for (size_t i = 0; i < action.count(); i++) consumer.made().append(consumer.text(), action.datum(i), consumer.stack_indent());
}
void format_stack(Consumer& consumer, const ActionRecord& action) { format_made(consumer, action); }
void format_ustack(Consumer& consumer, const ActionRecord& action) { format_made(consumer, action); }
void format_usym(Consumer& consumer, const ActionRecord& action) { format_made(consumer, action); }
void format_umod(Consumer& consumer, const ActionRecord& action) { format_made(consumer, action); }
void format_uaddr(Consumer& consumer, const ActionRecord& action) { format_made(consumer, action); }
void format_ufunc(Consumer& consumer, const ActionRecord& action) { format_made(consumer, action); }

void append_formatted_record(std::string& out, const Consumer& consumer, const ActionRecord& action) {
  std::vector<Datum> arguments;
  for (size_t i = 0; i < action.count(); i++) arguments.push_back(action.datum(i));
  append_formatted(out, consumer.format_of(action.action), arguments, consumer.made());
}

void format_printf(Consumer& consumer, const ActionRecord& action) { append_formatted_record(consumer.text(), consumer, action); }

void format_system(Consumer& consumer, const ActionRecord& action) {
  std::string command;
  append_formatted_record(command, consumer, action);
  consumer.run_command(command);
}

void format_setopt(Consumer& consumer, const ActionRecord& action) {
  auto argument = [&](size_t i) { return i < action.count() ? std::string(action.datum(i).text()) : std::string(); };
  consumer.set_option(argument(0), argument(1));
}

void format_printa(Consumer& consumer, const ActionRecord& action) {
  const Format* format = action.action.desc->has_format ? &consumer.format_of(action.action) : nullptr;
  print_aggregations(consumer, action.aggregations(), format);
}

void format_clear(Consumer& consumer, const ActionRecord& action) {
  for (uint32_t id : action.aggregations()) consumer.aggregations().clear(id);
}

void format_trunc(Consumer& consumer, const ActionRecord& action) {
  int64_t count = action.count() > 0 ? action.datum(0).signed_value() : 0;
  for (uint32_t id : action.aggregations()) consumer.aggregations().trunc(id, count);
}

void format_normalize(Consumer& consumer, const ActionRecord& action) {
  int64_t normal = action.count() > 0 ? action.datum(0).signed_value() : 1;
  if (normal == 0) return consumer.notice("dvm: normalize() by zero was ignored\n");
  for (uint32_t id : action.aggregations()) consumer.aggregations().normalize(id, normal);
}

void format_denormalize(Consumer& consumer, const ActionRecord& action) {
  for (uint32_t id : action.aggregations()) consumer.aggregations().normalize(id, 1);
}

void format_exit(Consumer&, const ActionRecord&) {}  // the session knows the status already

using FormatAction = void (*)(Consumer&, const ActionRecord&);
template <dif::Action kind>
struct Formatter {  // exists stands apart because a sanitized function's address is no constant to compare
  static constexpr bool exists = false;
  static constexpr FormatAction function = nullptr;
};
#define DVM_FORMATS(name)                                   \
  template <>                                               \
  struct Formatter<dif::Action::name> {                     \
    static constexpr bool exists = true;                    \
    static constexpr FormatAction function = format_##name; \
  };
DVM_FORMATS(trace)
DVM_FORMATS(printf)
DVM_FORMATS(printa)
DVM_FORMATS(clear)
DVM_FORMATS(trunc)
DVM_FORMATS(normalize)
DVM_FORMATS(denormalize)
DVM_FORMATS(exit)
DVM_FORMATS(system)
DVM_FORMATS(setopt)
DVM_FORMATS(stack)
DVM_FORMATS(ustack)
DVM_FORMATS(usym)
DVM_FORMATS(umod)
DVM_FORMATS(uaddr)
DVM_FORMATS(ufunc)
#undef DVM_FORMATS

FormatAction format_function(dif::Action kind) {
  switch (kind) {
#define DVM_ACTION(number, name, arguments, when, destructive, support, text)                              \
  case dif::Action::name: {                                                                                \
    using dif::yes;                                                                                        \
    static_assert(!std::string_view(support).empty() || dif::ActionTime::when == dif::ActionTime::probe || \
                      Formatter<dif::Action::name>::exists,                                                \
                  "format_" #name);                                                                        \
    return Formatter<dif::Action::name>::function;                                                         \
  }
#include "vm/dif/actions.def"
    default:
      return nullptr;
  }
}

Status write(std::FILE* file, std::string& text) {
  std::string pending;
  pending.swap(text);
  if (pending.empty() || file == nullptr) return {};
  errno = 0;
  if (std::fwrite(pending.data(), 1, pending.size(), file) == pending.size() && std::fflush(file) == 0) return {};
  return Error{fmt::format("could not write the output: {}", std::strerror(errno))};
}

}  // namespace

Status Consumer::prepare() {
  for (const Aggregation& aggregation : enabling_.aggregations())
    aggregations_.declare(aggregation.desc, aggregation.words, aggregation.function->initial);
  for (const Ecb& ecb : enabling_.ecbs())
    for (const dif::ActDesc& action : ecb.desc->actions) {
      bool needs_format = action.kind == dif::Action::printf || action.kind == dif::Action::system;
      if ((!action.has_format && !needs_format) || formats_.contains(&action)) continue;
      Result<Format> format = Format::parse(action.format);
      if (!format) return format.error();
      formats_.emplace(&action, std::move(*format));
    }
  return {};
}

const Ecb* Consumer::next_ecb(std::span<const std::byte> records) const {
  while (records.size() >= sizeof(RecordHeader)) {
    RecordHeader header;
    std::memcpy(&header, records.data(), sizeof(header));
    if (header.epid != 0) return enabling_.ecb(header.epid);
    records = records.subspan(std::min(records.size(), sizeof(ErrorRecord)));
  }
  return nullptr;
}

void Consumer::consume(std::span<const std::byte> records) {
  while (records.size() >= sizeof(RecordHeader)) {
    RecordHeader header;
    std::memcpy(&header, records.data(), sizeof(header));
    const Ecb* ecb = enabling_.ecb(header.epid);
    size_t size = ecb ? ecb->record_size : sizeof(ErrorRecord);
    if (size == 0 || size > records.size()) return;
    const std::byte* record = records.data();
    records = records.subspan(size);
    if (ecb) {
      consume_record(*ecb, record, next_ecb(records));
    } else {
      ErrorRecord error;
      std::memcpy(&error, record, sizeof(error));
      notice("dvm: " + error_text(error, enabling_) + "\n");
    }
  }
}

void Consumer::consume_record(const Ecb& ecb, const std::byte* record, const Ecb* next) {
  RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  if (!has_heading_) print_heading();
  print_columns(ecb, header.cpu, next);
  for (const Action& action : ecb.actions)
    if (FormatAction format = format_function(action.kind)) format(*this, {action, record});
  if (!is_quiet()) text_ += '\n';
}

void Consumer::print_heading() {
  has_heading_ = true;
  if (options_[dif::Option::flowindent] > 0)
    append(text_, "%3s %-41s\n", "CPU", "FUNCTION");
  else if (!is_quiet())
    append(text_, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
}

void Consumer::print_columns(const Ecb& ecb, int cpu, const Ecb* next) {
  if (options_[dif::Option::flowindent] > 0) return append(text_, "%3d %-41s ", cpu, flow_.column(ecb, next).c_str());
  if (is_quiet()) return;
  std::string name = ecb.probe->function + ":" + ecb.probe->name;
  append(text_, "%3d %6u %32s ", cpu, ecb.probe->id, name.c_str());
}

void Consumer::take(AggregationBuffer& buffer) {
  aggregations_.take(buffer,
                     [this](const MergedAggregation& aggregation, std::string& key) { made_.unify(aggregation.desc, key); });
}

void Consumer::print_rest() {
  text_ += '\n';
  for (const MergedRow* row : aggregations_.sorted_unprinted(sort_order())) {
    uint32_t id = row->aggregation->desc.id;
    append_table_row(*this, std::span(&id, 1), JoinedRow{{row}});
  }
}

void Consumer::run_command(const std::string& command) {
  if (Status status = flush(); !status) failure_ = status;
  if (std::system(command.c_str()) == -1) notice(fmt::format("dvm: could not run '{}': {}\n", command, std::strerror(errno)));
}

void Consumer::set_option(const std::string& name, const std::string& value) {
  const Status status = options_.set(name, value, dif::OptionTime::dynamic);
  if (status) return;
  notice(fmt::format("dvm: couldn't set option \"{}\" to \"{}\": {}\n", name, value, status.error().message));
  for (const std::string& hint : dif::option_hints(name)) notice(fmt::format("    hint: {}\n", hint));
}

Status Consumer::flush() {
  if (!failure_) return failure_;
  Status notices = write(err_, notices_);
  if (Status output = write(out_, text_); !output) return output;
  return notices;
}

}  // namespace dvm::runtime
