// dtrace -G: an object that is linked with those that contain the probes. The probes themselves need nothing from it: the header
// has put their notes there. It defines the semaphores that is-enabled macros read, under dvm's names and under those that
// headers of SystemTap's dtrace expect. Covered by tests/runtime/scenarios/test_dtrace.py.

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "cmd/command.h"
#include "cmd/header.h"
#include "common/output_file.h"
#include "runtime/symbol/declared_providers.h"

namespace dvm::cmd {
namespace {

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

enum Section : uint16_t { kNull, kProbes, kProviders, kStackNote, kSymbols, kStrings, kSectionNames, kSections };
constexpr std::string_view kNames[] = {"",        ".probes",  runtime::kProviderSection, ".note.GNU-stack", ".symtab",
                                       ".strtab", ".shstrtab"};

struct ObjectSymbols {
  std::string table, names = std::string(1, '\0'), data;
  std::string declarations;  // of the providers

  ObjectSymbols() { append(table, Elf64_Sym{}); }

  // Two bytes in .probes; weak, since objects with dvm's header define it too.
  void add_semaphore(const std::string& name) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<uint32_t>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_WEAK, STT_OBJECT);
    symbol.st_other = STV_HIDDEN;
    symbol.st_shndx = Section::kProbes;
    symbol.st_value = data.size();
    symbol.st_size = 2;
    append(table, symbol);
    names += name + '\0';
    data.append(2, '\0');
  }
};

class ObjectFile {
 public:
  explicit ObjectFile(const ObjectSymbols& made) {
    bytes_.resize(sizeof(Elf64_Ehdr));
    add(kNull, SHT_NULL, 0, "", 0);
    add(kProbes, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, made.data, 2);
    add(kProviders, SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, made.declarations, 1).sh_entsize = 1;
    add(kStackNote, SHT_PROGBITS, 0, "", 1);
    add(kSymbols, SHT_SYMTAB, 0, made.table, 8).sh_entsize = sizeof(Elf64_Sym);
    add(kStrings, SHT_STRTAB, 0, made.names, 1);
    add(kSectionNames, SHT_STRTAB, 0, name_table(), 1);
    headers_[kSymbols].sh_link = kStrings;
    headers_[kSymbols].sh_info = 1;  // no local symbol but the first
  }

  std::string finish() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = kSections;
    header.e_shstrndx = kSectionNames;
    align(8);
    header.e_shoff = bytes_.size();
    for (const Elf64_Shdr& section : headers_) append(bytes_, section);
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  static std::string name_table() {
    std::string table;
    for (const std::string_view name : kNames) table += std::string(name) + '\0';
    return table;
  }

  void align(size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }

  Elf64_Shdr& add(Section section, uint32_t type, uint64_t flags, const std::string& content, size_t alignment) {
    align(std::max<size_t>(alignment, 1));
    Elf64_Shdr& header = headers_[section];
    for (size_t before = 0; before < section; before++) header.sh_name += static_cast<uint32_t>(kNames[before].size()) + 1;
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_offset = type == SHT_NULL ? 0 : bytes_.size();
    header.sh_size = content.size();
    header.sh_addralign = alignment;
    bytes_ += content;
    return header;
  }

  std::string bytes_;
  Elf64_Shdr headers_[kSections] = {};
};

// What an object says of a provider.
enum class Holds : uint8_t { nothing, probes, unknown };

// A note begins with its name, three addresses and the provider. The compiler keeps them for link time if it optimizes there.
Holds look_for(const std::string& object, const std::string& provider) {
  using namespace std::string_literals;
  constexpr size_t kAddresses = 24;
  const std::string name = "stapsdt\0"s, wanted = provider + '\0';
  for (size_t at = object.find(name); at != std::string::npos; at = object.find(name, at + 1))
    if (at + name.size() + kAddresses < object.size() &&
        object.compare(at + name.size() + kAddresses, wanted.size(), wanted) == 0)
      return Holds::probes;
  const bool is_for_link_time = object.starts_with("BC\xC0\xDE") || object.find(".gnu.lto_") != std::string::npos;
  return is_for_link_time ? Holds::unknown : Holds::nothing;
}

Result<std::string> read_object(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return Error{fmt::format("failed to open {}: {}", path, std::strerror(errno != 0 ? errno : EIO))};
  std::string bytes = std::move(text).str();
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
  const bool is_object = bytes.starts_with(ELFMAG) && header.e_type == ET_REL && header.e_machine == EM_X86_64;
  if (!is_object && !bytes.starts_with("BC\xC0\xDE")) return Error{fmt::format("{} is not an object file of x86-64", path)};
  return bytes;
}

// Each provider must have a probe in one of the objects.
Status check_objects(const std::vector<compiler::ProviderDesc>& providers, const std::vector<std::string>& paths) {
  std::vector<std::string> objects;
  for (const std::string& path : paths) {
    Result<std::string> object = read_object(path);
    if (!object) return object.error();
    objects.push_back(std::move(*object));
  }
  if (objects.empty()) return {};
  for (const compiler::ProviderDesc& provider : providers) {
    const auto has = [&](const std::string& object) { return look_for(object, provider.name) != Holds::nothing; };
    if (!provider.probes.empty() && std::none_of(objects.begin(), objects.end(), has))
      return Error{fmt::format("No probe sites found for declared provider {}: compile the objects with the header that -h makes",
                               provider.name)};
  }
  return {};
}

ObjectSymbols symbols_of(const std::vector<compiler::ProviderDesc>& providers) {
  ObjectSymbols symbols;
  for (const compiler::ProviderDesc& provider : providers) {
    symbols.declarations += provider.declaration + '\0';
    for (const compiler::DeclaredProbeDesc& probe : provider.probes) {
      const ProbeNames names = probe_names(provider.name, probe.name);
      symbols.add_semaphore(names.symbol + "_semaphore");
      symbols.add_semaphore(fmt::format("{}_{}_semaphore", provider.name, names.note));
    }
  }
  return symbols;
}

// As dtrace names the object of script n: only a single script's is the output file.
std::string object_path(const std::string& output, const std::vector<compiler::Source>& sources, size_t n) {
  const bool is_single = sources.size() == 1;
  if (is_single && !output.empty()) return output;
  const std::string beside = file_beside(sources[n], "o");
  if (!beside.empty()) return beside;
  return is_single ? "d.out" : fmt::format("d.out.{}", n);
}

// Removes the providers that the scripts before have declared likewise, and adds the others to these.
void leave_new(std::vector<compiler::ProviderDesc>& providers, std::map<std::string, std::string>& known) {
  std::erase_if(providers, [&](const compiler::ProviderDesc& provider) {
    const auto [place, is_new] = known.try_emplace(provider.name, provider.declaration);
    return !is_new && std::exchange(place->second, provider.declaration) == provider.declaration;
  });
}

}  // namespace

int write_probe_object(const ScriptOptions& script, const std::string& output, const std::vector<std::string>& objects) {
  const std::optional<DeclaringSources> all = declared_providers(script);
  if (!all) return 1;
  const std::vector<compiler::Source>& sources = all->sources;
  std::map<std::string, std::string> known;
  for (size_t n = 0; n < sources.size(); n++) {
    const bool is_last = n + 1 == sources.size();
    auto made = is_last ? all : providers_of_first(n + 1, *all, script);
    if (!made) return 1;
    leave_new(made->providers, known);
    if (Status fine = check_objects(made->providers, objects); !fine)
      return fail("failed to link script {}: {}", sources[n].name, fine.error().message);
    const std::string bytes = ObjectFile(symbols_of(made->providers)).finish();
    if (Status written = write_file(object_path(output, sources, n), bytes); !written) return fail("{}", written.error().message);
  }
  return 0;
}

}  // namespace dvm::cmd
