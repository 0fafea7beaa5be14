// The usdt provider: the markers that programs and libraries bring along. Covered by tests/unit/instrument/providers_test.cpp
// and tests/runtime/usdt.
//
//   python123:libpython3.so:eval:function-entry   a note of provider python, name function__entry, in process 123
//
// The provider is named as the note names it, followed by the process; "__" in the name is "-"; the function is the one that the
// place lies in. A pattern without a process, as in python*:::, means every process that runs now. Places of one probe in one
// function are one probe, each with its arguments where they are there. What the notes say is kept for each file, so that further
// descriptions cost nothing.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "common/similar.h"
#include "runtime/catalog/catalog.h"
#include "runtime/provider/family.h"
#include "runtime/provider/module_names.h"
#include "runtime/provider/providers.h"
#include "runtime/provider/refuse.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"
#include "runtime/symbol/stapsdt.h"

namespace dvm::runtime {
namespace {

// "python*123": a pattern for the notes' providers and a process. "python*": for these with the process behind them.
struct ProviderField {
  std::string_view pattern;
  int32_t pid = 0;
  bool has_process = true;  // the pattern does not mean the process

  bool matches(const std::string& provider) const {
    return glob_match(pattern, has_process ? provider : provider + std::to_string(pid));
  }
};

std::optional<ProviderField> parse_provider(std::string_view text) {
  const size_t digits = text.find_last_not_of("0123456789") + 1;
  ProviderField field{text.substr(0, digits), 0};
  const auto [end, error] = std::from_chars(text.data() + digits, text.data() + text.size(), field.pid);
  if (digits == 0 || error != std::errc() || end != text.data() + text.size() || field.pid <= 0) return std::nullopt;
  return field;
}

// "python*", but not "*" or "pid*", which mean no markers.
bool means_processes(std::string_view provider) {
  const size_t star = provider.find('*');
  return star != std::string_view::npos && star != 0 && !provider.starts_with("pid");
}

std::vector<int32_t> running_processes() {
  std::vector<int32_t> pids;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    int32_t pid = 0;
    const auto [last, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (problem == std::errc() && last == name.data() + name.size() && pid != getpid()) pids.push_back(pid);
  }
  return pids;
}

std::string probe_name(std::string_view name) {
  std::string out;
  for (size_t at; (at = name.find("__")) != std::string_view::npos; name.remove_prefix(at + 2))
    out.append(name.substr(0, at)).push_back('-');
  return out.append(name);
}

struct MarkerAlias {
  std::string_view provider, name, markers;
};

constexpr MarkerAlias kMarkerAliases[] = {
#define DVM_MARKER_ALIAS(provider, name, markers) {provider, name, markers},
#include "runtime/provider/marker_aliases.def"
};

// Whether the name in a description is an older one of this marker (marker_aliases.def).
bool is_older_name(std::string_view wanted, const StapsdtNote& note) {
  const std::string word = ' ' + probe_name(note.name) + ' ';
  return std::any_of(std::begin(kMarkerAliases), std::end(kMarkerAliases), [&](const MarkerAlias& alias) {
    return alias.name == wanted && alias.provider == note.provider &&
           fmt::format(" {} ", alias.markers).find(word) != std::string::npos;
  });
}

std::optional<uint64_t> find_symbol(const ElfObject& elf, std::string_view name) {
  const auto data = std::lower_bound(elf.data().begin(), elf.data().end(), name,
                                     [](const ElfData& d, std::string_view n) { return d.name < n; });
  if (data != elf.data().end() && data->name == name && !data->is_thread_local) return data->address;
  const auto function =
      std::find_if(elf.functions().begin(), elf.functions().end(), [&](const ElfFunction& f) { return f.name == name; });
  return function != elf.functions().end() ? std::optional(function->address) : std::nullopt;
}

class UsdtProvider : public Provider {
 public:
  explicit UsdtProvider(ObjectsOf objects) : family_(std::move(objects)) {}
  std::string_view name() const override { return "usdt"; }
  bool is_named_in_descriptions() const override { return false; }

  void look_in(int32_t root, int32_t pid) override { family_.add(root, pid); }

  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    const auto field = parse_provider(description.provider);
    if (!field && means_processes(description.provider)) return discover_everywhere(description, catalog);
    if (!field || field->pattern == "pid") return {};
    const auto objects = family_.objects(field->pid);
    if (!objects) return refuse("D_PROC_GRAB", fmt::format("failed to grab process {}: {}", field->pid, objects.error().message));
    const size_t before = found_;
    Names names;
    discover_in_all(*objects, *field, description, catalog, names);
    return found_ > before ? Discovery{} : nothing(*field, description, names);
  }

 private:
  // Lists the existing markers, for a misspelt name.
  struct Names {
    std::vector<std::string> providers, probes;
    bool has_provider = false;
  };

  using Probes = std::map<std::pair<std::string, std::string>, Probe>;

  // In every process that dvm may look into.
  Discovery discover_everywhere(const dif::ProbeDesc& description, Catalog& catalog) {
    const size_t before = found_;
    Names names;
    for (const int32_t pid : running_processes())
      if (const auto objects = family_.objects(pid))
        discover_in_all(*objects, {description.provider, pid, false}, description, catalog, names);
    const bool is_misspelt = found_ == before && names.has_provider;
    return is_misspelt ? nothing({description.provider, 0, false}, description, names) : Discovery{};
  }

  // A module that is named is called so.
  void discover_in_all(const std::vector<MappedObject>& objects, const ProviderField& field, const dif::ProbeDesc& description,
                       Catalog& catalog, Names& names) {
    const bool is_named = !is_glob(description.module) && description.module != "a.out";
    for (MappedObject object : objects) {
      if (!module_match(description.module, object.name, object.path, object.is_program)) continue;
      if (!is_named) object.name = module_names_.name_of(field.pid, object);
      discover_in(object, field, description, catalog, names);
    }
  }

  void discover_in(const MappedObject& object, const ProviderField& field, const dif::ProbeDesc& description, Catalog& catalog,
                   Names& names) {
    const std::vector<StapsdtNote>& notes = notes_of(object);
    if (notes.empty()) return;
    Probes probes;  // by provider and name in one function: in the order of these
    for (const StapsdtNote& note : notes) {
      const std::string name = probe_name(note.name);
      names.providers.push_back(note.provider);
      if (!field.matches(note.provider)) continue;
      names.has_provider = true;
      names.probes.push_back(name);
      if (glob_match(description.name, name)) add_place(probes, object, field.pid, note, name, description.function);
    }
    if (probes.empty()) add_by_older_name(probes, object, field, notes, description);
    for (auto& [key, probe] : probes) catalog.add(std::move(probe)), found_++;
  }

  void add_by_older_name(Probes& probes, const MappedObject& object, const ProviderField& field,
                         const std::vector<StapsdtNote>& notes, const dif::ProbeDesc& description) {
    for (const StapsdtNote& note : notes)
      if (field.matches(note.provider) && is_older_name(description.name, note))
        add_place(probes, object, field.pid, note, description.name, description.function);
    for (auto& [key, probe] : probes) probe.spell_name = true;
  }

  void add_place(Probes& probes, const MappedObject& object, int32_t pid, const StapsdtNote& note, const std::string& name,
                 std::string_view wanted) {
    const auto elf = symbols_.read(object.open_path);
    const ElfFunction* around = elf ? (*elf)->function_at(note.address) : nullptr;
    const std::string function(around ? around->name : std::string_view());
    if (!glob_match(wanted, function)) return;
    Probe& probe = probes[{note.provider, function + '\0' + name}];
    UprobeSite site{object.open_path, note.offset, false, pid};
    site.semaphore = note.semaphore;
    site.semaphore_address = note.semaphore_address;
    site.inside = arguments_of(note, elf ? elf->get() : nullptr, probe);
    if (!probe.name.empty()) {
      probe.more_sites.push_back(std::move(site));
      return;
    }
    probe.provider = fmt::format("{}{}", note.provider, pid);
    probe.module = object.name, probe.function = function, probe.name = name;
    probe.object = object.path, probe.in_program = object.is_program;
    probe.site = std::move(site);
  }

  static Operands arguments_of(const StapsdtNote& note, const ElfObject* elf, Probe& probe) {
    const auto symbol = [&](std::string_view name) { return elf ? find_symbol(*elf, name) : std::nullopt; };
    Operands operands{};
    const auto arguments = parse_stapsdt_arguments(note.arguments, note.address, symbol);
    for (size_t n = 0; n < std::min(arguments.size(), kArguments); n++) {
      operands[n] = arguments[n].operand;
      if (arguments[n].problem.empty()) continue;
      probe.unknown_arguments.push_back({n, arguments[n].problem});
      probe.remark += fmt::format("{}arg{} cannot be read, {}", probe.remark.empty() ? "" : "; ", n, arguments[n].problem);
    }
    return operands;
  }

  // The process through which the file is opened may end meanwhile. Others may have the file, too.
  const std::vector<StapsdtNote>& notes_of(const MappedObject& object) {
    static const std::vector<StapsdtNote> kNone;
    const auto key = FileKey::of(object.open_path);
    if (!key) return kNone;
    if (const auto known = notes_.find(*key); known != notes_.end()) return known->second;
    auto notes = read_stapsdt(object.open_path);
    return notes ? notes_[*key] = std::move(*notes) : kNone;
  }

  static Discovery nothing(const ProviderField& field, const dif::ProbeDesc& description, const Names& names) {
    Discovery result;
    if (!names.has_provider && !is_glob(field.pattern)) {
      const std::string absent = refusal_of_absent(field.pattern);
      const auto unknown = [&] { return fmt::format("process {} has no probes of a provider {}", field.pid, field.pattern); };
      result = refuse("D_PDESC_ZERO", absent.empty() ? unknown() : absent);
    }
    const auto& known = names.has_provider ? names.probes : names.providers;
    const std::vector<std::string_view> views(known.begin(), known.end());
    result.similar = similar_names(names.has_provider ? std::string_view(description.name) : field.pattern, views);
    return result;
  }

  Family family_;
  ElfCache symbols_;
  ModuleNames module_names_;
  std::map<FileKey, std::vector<StapsdtNote>> notes_;
  size_t found_ = 0;
};

}  // namespace

std::unique_ptr<Provider> make_usdt_provider() { return make_usdt_provider(mapped_objects); }
std::unique_ptr<Provider> make_usdt_provider(ObjectsOf objects) { return std::make_unique<UsdtProvider>(std::move(objects)); }

}  // namespace dvm::runtime
