// One description of each structure for both ways: describe() hands its fields to a writer or to a reader. A field that is added
// to a structure of program.h does not build here until it is described. Tests: tests/unit/vm/program_file_test.cpp,
// tests/fuzz/program_file_fuzz.cpp, tests/runtime/cmd/exec.py.
#include "dvm/dif/program_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>

#include "dvm/dif/option.h"
#include "dvm/dif/variable.h"

namespace dvm::dif {

namespace {

constexpr std::string_view kMagic = "dvm program\n";
constexpr uint32_t kVersion = 2;
constexpr uint32_t kMostBytes = 1 << 20;  // of one by-reference variable

uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

class ProgramWriter {
 public:
  template <std::integral T>
  void number(T& value, T = 0) {
    char bytes[sizeof(T)];
    for (size_t i = 0; i < sizeof(T); i++) bytes[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff);
    bytes_.append(bytes, sizeof(T));
  }
  template <class T, class F>
  void list(std::vector<T>& items, F&& item) {
    auto count = static_cast<uint32_t>(items.size());
    number(count);
    for (T& i : items) item(i);
  }
  void text(std::string& value) {
    auto count = static_cast<uint32_t>(value.size());
    number(count);
    bytes_ += value;
  }
  bool good() const { return true; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After the first thing that is wrong, everything is 0 or empty.
class FileReader {
 public:
  explicit FileReader(std::string_view bytes) : bytes_(bytes) {}

  template <std::integral T>
  void number(T& value, T most = std::numeric_limits<T>::max()) {
    if (bytes_.size() < sizeof(T)) return fail();
    uint64_t raw = 0;
    for (size_t i = 0; i < sizeof(T); i++) raw |= uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    bytes_.remove_prefix(sizeof(T));
    value = static_cast<T>(raw);
    if (value > most) fail();
  }
  template <class T, class F>
  void list(std::vector<T>& items, F&& item) {
    uint32_t count = 0;
    number(count);
    for (; count > 0 && good_; count--) item(items.emplace_back());
  }
  void text(std::string& value) {
    uint32_t count = 0;
    number(count);
    if (count > bytes_.size()) return fail();
    value = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
  }
  bool good() const { return good_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  void fail() { good_ = false, bytes_ = {}; }

  std::string_view bytes_;
  bool good_ = true;
};

template <class A>
void describe(A& a, bool& flag) {
  auto byte = static_cast<uint8_t>(flag);
  a.number(byte, uint8_t{1});
  flag = byte != 0;
}

template <class A, class E>
requires std::is_enum_v<E>
void describe(A& a, E& value, E most) {
  auto number = static_cast<std::underlying_type_t<E>>(value);
  a.number(number, static_cast<std::underlying_type_t<E>>(most));
  value = static_cast<E>(number);
}

template <class A>
void describe(A& a, std::string& text) {
  a.text(text);
}

template <class A, class T>
void describe(A& a, std::vector<T>& items) {
  if constexpr (std::integral<T>)
    a.list(items, [&a](T& item) { a.number(item); });
  else
    a.list(items, [&a](T& item) { describe(a, item); });
}

template <class A, class T>
void describe(A& a, std::optional<T>& item) {
  bool is_there = item.has_value();
  describe(a, is_there);
  if (!is_there) return;
  if (!item) item.emplace();
  describe(a, *item);
}

template <class A>
void describe(A& a, DataType& t) {
  auto& [kind, is_signed, is_char, size, name] = t;
  describe(a, kind, TypeKind::bytes), describe(a, is_signed), describe(a, is_char), a.number(size), a.text(name);
}

template <class A>
void describe(A& a, Variable& v) {
  auto& [name, id, scope, kind, is_read, is_written, type] = v;
  a.text(name), a.number(id), describe(a, scope, Scope::clause), describe(a, kind, VariableKind::array);
  describe(a, is_read), describe(a, is_written), describe(a, type);
}

template <class A>
void describe(A& a, Instruction& in) {
  uint32_t word = in.word();
  a.number(word);
  in = Instruction(word);
}

template <class A>
void describe(A& a, Difo& d) {
  auto& [text, integers, strings, variables, result] = d;
  describe(a, text), describe(a, integers), a.text(strings), describe(a, variables), describe(a, result);
}

template <class A>
void describe(A& a, ProbeDesc& p) {
  auto& [provider, module, function, name] = p;
  a.text(provider), a.text(module), a.text(function), a.text(name);
}

template <class A>
void describe(A& a, SourcePosition& p) {
  auto& [file, line, column] = p;
  a.text(file), a.number(line), a.number(column);
}

template <class A>
void describe(A& a, PredDesc& p) {
  auto& [difo] = p;
  describe(a, difo);
}

constexpr Action kLastAction{0xffff};  // check() knows which there are

template <class A>
void describe(A& a, RecDesc& r) {
  auto& [difo, made_by, frames, strsize] = r;
  describe(a, difo), describe(a, made_by, kLastAction), a.number(frames), a.number(strsize);
}

template <class A>
void describe(A& a, std::pair<std::string, int64_t>& enumerator) {
  a.text(enumerator.first), a.number(enumerator.second);
}

template <class A>
void describe(A& a, LayoutNode& n) {
  auto& [kind, depth, is_signed, type, member, offset, size, bits, shift, count, enumerators] = n;
  describe(a, kind, LayoutKind::function_pointer), a.number(depth), describe(a, is_signed), a.text(type), a.text(member),
      a.number(offset), a.number(size);
  a.number(bits), a.number(shift), a.number(count), describe(a, enumerators);
}

template <class A>
void describe(A& a, ActDesc& d) {
  auto& [kind, args, format, has_format, aggregations, key_count, parameters, layout, position] = d;
  describe(a, kind, kLastAction), describe(a, args), a.text(format), describe(a, has_format), describe(a, aggregations);
  a.number(key_count), describe(a, parameters), describe(a, layout), describe(a, position);
}

template <class A>
void describe(A& a, EcbDesc& e) {
  auto& [probes, predicate, actions, position] = e;
  describe(a, probes), describe(a, predicate), describe(a, actions), describe(a, position);
}

template <class A>
void describe(A& a, AggregationDesc& d) {
  auto& [id, name, function, keys, key_makers, parameters, value] = d;
  a.number(id), a.text(name), describe(a, function, kLastAction), describe(a, keys), describe(a, parameters), describe(a, value);
}

template <class A>
void describe(A& a, NamedProgram& p) {
  auto& [clauses, variables, aggregations] = p.program;
  a.text(p.name), describe(a, p.is_description), describe(a, clauses), describe(a, variables), describe(a, aggregations);
}

template <class A>
void describe(A& a, ProgramFile& f) {
  auto& [programs, settings] = f;
  describe(a, programs), describe(a, settings);
}

// The properties of a program that the compiler promises and the runtime relies on.

struct Count {
  size_t least = 0, most = 0;
  bool holds(size_t n) const { return n >= least && n <= most; }
};

// The number of values that an action records, and of its aggregations. A format is neither.
struct ValueCount {
  Count values, aggregations;
  bool has_format = false;

  explicit ValueCount(const ArgumentList& row) {
    for (const Argument& argument : row) add(argument);
  }
  void add(const Argument& argument) {
    switch (argument.type) {
      case ArgumentType::constant:  // is in the type of another
        return;
      case ArgumentType::format:
        has_format = !argument.is_optional;
        return;
      case ArgumentType::formatted:
        (aggregations.most ? aggregations : values).most = SIZE_MAX;
        return;
      default:
        Count& count = argument.type == ArgumentType::aggregation ? aggregations : values;
        count.least += !argument.is_optional;
        count.most++;
    }
  }
};

std::string check(const ValueLayout& layout) {
  if (layout.size() > kMostLayoutNodes) return "print() shows too many members";
  for (size_t i = 0; i < layout.size(); i++) {
    const LayoutNode& node = layout[i];
    const uint32_t most = i == 0 ? 0 : std::min(layout[i - 1].depth + 1, kMostLayoutDepth);
    if (node.depth > most || (i > 0 && node.depth == 0)) return "print() shows members of nothing";
    if (node.bits > 64 || node.shift > 63) return fmt::format("a bit-field has {} bits", node.bits);
  }
  return "";
}

std::string check(const ActDesc& action) {
  if (find_aggregation(action.kind)) return action.aggregations.size() == 1 ? "" : "an aggregating action has no aggregation";
  const ActionInfo* row = find_action(action.kind);
  if (!row || !row->unsupported.empty()) return fmt::format("there is no action {:#x}", static_cast<unsigned>(action.kind));
  const ValueCount arity(row->arguments);
  if (!arity.values.holds(action.args.size()) || !arity.aggregations.holds(action.aggregations.size()))
    return fmt::format("{}() has a wrong number of arguments", row->name);
  if (const std::string problem = check(action.layout); !problem.empty()) return problem;
  if (arity.has_format && !action.has_format) return fmt::format("{}() has no format", row->name);
  for (const RecDesc& arg : action.args)
    if (arg.difo.result.kind == TypeKind::none && action.kind != Action::expression && !is_own_stack(arg))
      return fmt::format("{}() has an argument without a value", row->name);
  return "";
}

std::string check(const DataType& type) {
  if (type.kind == TypeKind::integer && type.size != 1 && type.size != 2 && type.size != 4 && type.size != 8)
    return fmt::format("an integer has {} bytes", type.size);
  if (type.kind == TypeKind::bytes && (type.size == 0 || type.size > kMostBytes))
    return fmt::format("{} bytes are a value", type.size);
  return type.kind == TypeKind::none ? "a variable has no type" : "";
}

std::string check(const Program& program) {
  for (const Variable& v : program.variables) {
    if (v.id < kFirstUserVariable) return fmt::format("variable {} has the id of a built-in", v.name);
    if (std::string problem = check(v.type); !problem.empty()) return problem;
  }
  for (const AggregationDesc& a : program.aggregations)
    if (!find_aggregation(a.function) || a.id == 0) return fmt::format("aggregation @{} has no function", a.name);
  for (const EcbDesc& clause : program.clauses) {
    if (clause.predicate && clause.predicate->difo.result.kind == TypeKind::none) return "a predicate has no value";
    for (const ActDesc& action : clause.actions)
      if (std::string problem = check(action); !problem.empty()) return problem;
  }
  return "";
}

std::string check(const ProgramFile& file) {
  Options options;
  for (const std::string& setting : file.settings) {
    const size_t equals = setting.find('=');
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (!options.set(setting.substr(0, equals), value)) return fmt::format("it sets an option to an invalid value: {}", setting);
  }
  for (const NamedProgram& program : file.programs)
    if (std::string problem = check(program.program); !problem.empty()) return problem;
  return "";
}

}  // namespace

// By value, since describe() takes what a reader fills.
std::string to_bytes(ProgramFile file) {
  ProgramWriter payload, head;
  describe(payload, file);
  const std::string bytes = payload.take();
  uint32_t version = kVersion;
  uint64_t size = bytes.size(), sum = checksum(bytes);
  head.number(version), head.number(size), head.number(sum);
  return std::string(kMagic) + head.take() + bytes;
}

Result<ProgramFile> from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Error{"it is not a program that dvm compiled"};
  FileReader head(bytes.substr(kMagic.size()));
  uint32_t version = 0;
  uint64_t size = 0, sum = 0;
  head.number(version), head.number(size), head.number(sum);
  if (!head.good()) return Error{"it is cut short"};
  if (version != kVersion) return Error{fmt::format("it is of version {}, this dvm reads version {}", version, kVersion)};
  const std::string_view payload = bytes.substr(kMagic.size() + sizeof(version) + sizeof(size) + sizeof(sum));
  if (payload.size() != size) return Error{payload.size() < size ? "it is cut short" : "it is longer than its header says"};
  if (checksum(payload) != sum) return Error{"it is damaged: its checksum is wrong"};
  FileReader reader(payload);
  ProgramFile file;
  describe(reader, file);
  if (!reader.good() || !reader.at_end()) return Error{"it is damaged: its parts do not fit"};
  if (std::string problem = check(file); !problem.empty()) return Error{"it is damaged: " + problem};
  return file;
}

}  // namespace dvm::dif
