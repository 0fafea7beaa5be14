// Debug information of programs of every kind: types, members, functions' arguments, data. What is expected stands in
// tests/programs/types.c and classes.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "runtime/symbol/dwarf_describe.h"
#include "runtime/symbol/dwarf_file.h"
#include "runtime/symbol/dwarf_scope.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/signature.h"
#include "runtime/symbol/target_types.h"
#include "tests/support/skip.h"

namespace dvm::runtime {
namespace {

using dif::DescribedAs;
using testing::ElementsAre;

std::string program(std::string_view name) { return std::string(DVM_BINARY_DIR "/tests/programs/").append(name); }

// "name offset" or, of a bit-field, "name offset:shift+bits".
std::vector<std::string> layout(const std::vector<dif::MemberDesc>& members) {
  std::vector<std::string> list;
  for (const dif::MemberDesc& m : members) {
    list.push_back(m.name + " " + std::to_string(m.offset));
    if (m.bits != 0) list.back() += ":" + std::to_string(m.shift) + "+" + std::to_string(m.bits);
  }
  return list;
}

// "name argN", "name [argN]" for what lies at argN, "name: why not".
std::vector<std::string> spell(const std::vector<dif::ArgumentDesc>& arguments) {
  std::vector<std::string> list;
  for (const dif::ArgumentDesc& a : arguments) {
    const std::string arg = "arg" + std::to_string(a.arg);
    list.push_back(a.name + (!a.problem.empty() ? ": " + a.problem : a.is_in_memory ? " [" + arg + "]" : " " + arg));
  }
  return list;
}

class DwarfTest : public testing::Test {
 protected:
  void open(std::string_view name) { open_file(program(name)); }
  void open_file(const std::string& path) {
    auto opened = DwarfFile::open(path);
    ASSERT_TRUE(opened) << opened.error().message;
    file_ = std::move(*opened);
    auto elf = ElfObject::read(path);
    ASSERT_TRUE(elf);
    elf_ = *elf;
  }
  std::vector<std::string> members(DescribedAs as, std::string_view name) {
    auto die = file_->find_type(as, name);
    return die ? layout(members_of(*die, table_)) : std::vector<std::string>{"not found"};
  }
  std::vector<std::string> arguments(std::string_view function, bool is_return = false) {
    for (const ElfFunction& f : elf_->functions())
      if (f.name == function)
        if (auto die = file_->find_function(f.address)) return spell(arguments_of(*die, is_return, table_));
    return {"not found"};
  }
  dif::TypeDesc type_of_data(std::string_view name) {
    for (const ElfData& d : elf_->data())
      if (d.name == name)
        if (auto die = file_->find_variable(name, d.address)) return describe(*table_.find(type_of(*die, table_)), table_);
    return {};
  }

  std::unique_ptr<DwarfFile> file_;
  std::shared_ptr<const ElfObject> elf_;
  DieTable table_;
};

TEST_F(DwarfTest, StructuresOfC) {
  open("types");
  EXPECT_THAT(members(DescribedAs::structure, "node"),
              ElementsAre("value 0", "name 8", "next 16", "list 24", "tag 32", "color 40", "bits 48", " 56", "place 60",
                          "compare 64", "weight 72", "hidden 80"));
  EXPECT_THAT(members(DescribedAs::structure, "bits"), ElementsAre("low 0:0+3", "mid 0:3+7", "wide 0:10+40", "flag 6:2+1"));
  EXPECT_THAT(members(DescribedAs::structure, "no_such"), ElementsAre("not found"));
  EXPECT_THAT(members(DescribedAs::union_, "node"), ElementsAre("not found"));
}

TEST_F(DwarfTest, NamesWithoutAKeyword) {
  open("types");
  auto die = file_->find_type(DescribedAs::alias, "odd_t");
  ASSERT_TRUE(die);
  const dif::TypeDesc alias = describe(*die, table_);
  EXPECT_EQ(alias.as, DescribedAs::alias);
  const dif::TypeDesc target = describe(*table_.find(alias.target), table_);
  EXPECT_EQ(target.as, DescribedAs::structure);
  EXPECT_EQ(target.size, 32U);
}

TEST_F(DwarfTest, DeclaredOnly) {
  open("types");
  auto die = file_->find_type(DescribedAs::structure, "opaque");
  ASSERT_TRUE(die);
  EXPECT_FALSE(describe(*die, table_).is_complete);
}

TEST_F(DwarfTest, Enumerators) {
  open("types");
  auto found = file_->find_enumerator("BLUE");
  ASSERT_TRUE(found);
  EXPECT_EQ(enumerator_value(found->enumerator), -2);
  EXPECT_EQ(describe(found->enumeration, table_).name, "color");
  EXPECT_EQ(enumerators_of(found->enumeration).size(), 3U);
  EXPECT_FALSE(file_->find_enumerator("counter"));
}

TEST_F(DwarfTest, ArgumentsAsTheyArePassed) {
  open("types");
  const std::string vector = "it is passed in a vector register, as floating-point values are";
  EXPECT_THAT(arguments("visit"), ElementsAre("node arg0", "depth arg1", "factor: " + vector, "small arg2"));
  EXPECT_THAT(arguments("make_big"),
              ElementsAre("first arg1", "by_value: it is a structure that is passed on the stack", "after arg2"));
  EXPECT_THAT(arguments("many"), ElementsAre("a arg0", "b arg1", "c arg2", "d arg3", "e arg4", "f arg5", "g arg6", "h arg7"));
  EXPECT_THAT(arguments("visit_alias"), ElementsAre("node arg0", "depth arg1", "factor: " + vector, "small arg2"));
}

// The optimiser has changed them: what the debug information gives no place is not passed, and the others move up.
TEST_F(DwarfTest, ArgumentsOfFunctionsThatTheCompilerChanged) {
  if (access(program("promoted").c_str(), R_OK) != 0) GTEST_SKIP() << "clang was not there when the tests were built";
  open("promoted");
  const std::string gone = "the compiler has removed this parameter of the function";
  EXPECT_THAT(arguments("cost"), ElementsAre("order: " + gone, "times arg2", "tax: " + gone));
  EXPECT_THAT(arguments("unused"), ElementsAre("first: " + gone, "second arg0"));
  EXPECT_THAT(arguments("kept"), ElementsAre("order arg0", "twice arg1", "times arg2"));
}

// Two words are two registers, of which the debug information of optimised code says which.
TEST_F(DwarfTest, StructuresInRegisters) {
  open_file(std::string(DVM_SOURCE_DIR "/tests/fuzz/corpus/dwarf/clang5opt"));
  for (const ElfFunction& f : elf_->functions()) {
    if (f.name != "part") continue;
    const auto found = arguments_of(*file_->find_function(f.address), false, table_);
    EXPECT_THAT(spell(found), ElementsAre("t arg0", "n arg2", "x arg3"));
    EXPECT_THAT(found[0].parts, ElementsAre(dif::ArgumentPart{0, 8, 0, 0}, dif::ArgumentPart{8, 4, 1, 0}));
    return;
  }
  FAIL() << "the seed has no such function";
}

TEST_F(DwarfTest, Results) {
  open("types");
  EXPECT_THAT(arguments("visit", true), ElementsAre(" arg0", " arg1"));
  EXPECT_THAT(arguments("make_big", true), ElementsAre(" arg0", " [arg1]"));
  EXPECT_THAT(arguments("halve", true),
              ElementsAre(" arg0", ": it is returned in a vector register, as floating-point values are"));
}

TEST_F(DwarfTest, Data) {
  open("types");
  EXPECT_EQ(type_of_data("counter").name, "int");
  EXPECT_EQ(type_of_data("static_node").size, 88U);
  EXPECT_EQ(type_of_data("list").name, "list");
  EXPECT_THAT(type_of_data("table").counts, ElementsAre(4U));
}

TEST_F(DwarfTest, ClassesOfCxx) {
  open("classes");
  EXPECT_THAT(members(DescribedAs::structure, "Cat"), ElementsAre(" 0", " 16", "diet 32", "friend_of 40", "initials 48"));
  EXPECT_THAT(arguments("_ZN3zoo3Cat4feedERKNS_5NamedENS_4DietEb"),
              ElementsAre("this arg0", "keeper arg1", "with arg2", "gladly arg3"));
  EXPECT_THAT(arguments("_ZN3zoo5weighENS_3CatEi"), ElementsAre("guest [arg0]", "stones arg1"));
  auto meat = file_->find_enumerator("meat");
  ASSERT_TRUE(meat);
  EXPECT_EQ(describe(meat->enumeration, table_).size, 1U);
  EXPECT_EQ(type_of_data("_ZN3zoo6oldestE").size, 2U);
  EXPECT_EQ(type_of_data("_ZN3zooL3fedE").size, 8U);
}

TEST_F(DwarfTest, ScopesOfCxx) {
  open("classes");
  EXPECT_THAT(members(DescribedAs::structure, "zoo::Named"), ElementsAre("name 0", "id 8"));
  EXPECT_THAT(members(DescribedAs::structure, "zoo::aquarium::Named"), ElementsAre("tank 0", "depth 4"));
  EXPECT_THAT(members(DescribedAs::alias, "zoo::aquarium::Fish"), ElementsAre(" 0", "fins 8"));
  EXPECT_THAT(members(DescribedAs::structure, "aquarium::Fish"), ElementsAre("not found"));
  std::set<std::string> scopes;
  EXPECT_TRUE(file_->find_type(DescribedAs::structure, "Named", &scopes));
  EXPECT_THAT(scopes, ElementsAre("zoo", "zoo::aquarium"));
  EXPECT_TRUE(file_->find_type(DescribedAs::structure, "Fish", &scopes));
  EXPECT_THAT(scopes, ElementsAre("zoo::aquarium"));
  for (const char* name : {"deep", "zoo::aquarium::deep", "zoo::aquarium::Depth::deep", "zoo::Diet::meat"})
    EXPECT_TRUE(file_->find_enumerator(name)) << name;
  EXPECT_FALSE(file_->find_enumerator("aquarium::deep"));
}

TEST(QualifiedNames, AreSplitOutsideOfTemplateArguments) {
  EXPECT_EQ(split_qualified("a::b::c").scope, "a::b");
  EXPECT_EQ(split_qualified("a::Box<b::c>").name, "Box<b::c>");
  EXPECT_EQ(split_qualified("Box<b::c>::Inner").scope, "Box<b::c>");
  EXPECT_EQ(split_qualified("plain").name, "plain");
  EXPECT_EQ(split_qualified("::").name, "");
}

TEST_F(DwarfTest, SeparateAndCompressed) {
  open("types_separate");
  EXPECT_EQ(members(DescribedAs::structure, "bits").size(), 4U);
  EXPECT_THAT(arguments("find"), ElementsAre("in arg0", "name arg1", "color arg2"));
}

TEST_F(DwarfTest, SplitIntoFilesOfUnits) {
  for (const char* name : {"types_split4", "types_split5"}) {
    SCOPED_TRACE(name);
    open(name);
    EXPECT_EQ(members(DescribedAs::structure, "bits").size(), 4U);
    EXPECT_THAT(arguments("find"), ElementsAre("in arg0", "name arg1", "color arg2"));
    EXPECT_EQ(type_of_data("counter").name, "int");
    EXPECT_EQ(type_of_data("static_node").size, 88U);
    EXPECT_FALSE(file_->missing_part());
  }
}

TEST_F(DwarfTest, SharedByDwz) {
  if (access(program("types_dwz").c_str(), R_OK) != 0) DVM_SKIP("dwz was not there when the tests were built");
  open("types_dwz");
  EXPECT_EQ(members(DescribedAs::structure, "bits").size(), 4U);
  EXPECT_THAT(arguments("find"), ElementsAre("in arg0", "name arg1", "color arg2"));
  EXPECT_EQ(type_of_data("static_node").size, 88U);
  EXPECT_TRUE(file_->find_type(DescribedAs::structure, "list"));
}

// The seeds of the fuzzer are one source, compiled by gcc for DWARF 2, 4 with type units, 5 and 5 compressed, and by clang for
// DWARF 5 (numbered strings and addresses), alone and with type units.
TEST_F(DwarfTest, EveryVersionAndCompiler) {
  for (const char* seed : {"c2", "c4types", "c5", "cz", "clang5", "clang5types"}) {
    SCOPED_TRACE(seed);
    open_file(std::string(DVM_SOURCE_DIR "/tests/fuzz/corpus/dwarf/") + seed);
    ASSERT_TRUE(file_ && elf_);
    EXPECT_THAT(members(DescribedAs::structure, "node"),
                ElementsAre("value 0", "next 8", "low 16:0+3", "mid 16:3+7", "color 20", " 24", "u 28"));
    EXPECT_TRUE(file_->find_type(DescribedAs::alias, "odd_t"));
    EXPECT_TRUE(file_->find_enumerator("BLUE"));
    EXPECT_EQ(arguments("visit").size(), 3U);
    EXPECT_EQ(type_of_data("data").name, "odd_t");
    EXPECT_FALSE(file_->missing_part());
  }
}

TEST_F(DwarfTest, SplitInformationThatIsMissingIsNamed) {
  for (const char* seed : {"split4", "split5"}) {
    const std::string path = std::string(DVM_SOURCE_DIR "/tests/fuzz/corpus/dwarf/") + seed;
    TargetTypes types;
    types.add({unmapped_program(path)});
    EXPECT_THAT(types.find_type("", DescribedAs::structure, "node").error().message,
                testing::ContainsRegex("in .dwo files, and .*[.]dwo is not there"));
    auto elf = ElfObject::read(path);
    ASSERT_TRUE(elf && (*elf)->functions().size() == 1);
    EXPECT_THAT(types.arguments(path, (*elf)->functions()[0].offset, false).error().message,
                testing::HasSubstr(".dwo is not there"));
  }
}

// Whoever owns the program may put anything there, before or after dvm has looked.
TEST_F(DwarfTest, APipeInPlaceOfSplitInformationIsNotOpened) {
  const std::string folder = testing::TempDir() + "dwarf_test." + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(program("types_split4"), folder + "/split");
  const std::string part = folder + "/types_split4-types.dwo";
  ASSERT_EQ(mkfifo(part.c_str(), 0600), 0);
  open_file(folder + "/split");
  EXPECT_EQ(members(DescribedAs::structure, "bits").size(), 4U);  // found where the compiler has put it
  EXPECT_EQ(file_->refused(), part + ": it is not a regular file");
  std::filesystem::remove_all(folder);
}

TEST_F(DwarfTest, NoDebugInformation) {
  auto none = DwarfFile::open(program("types_bare"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "it has no debug information");
  EXPECT_FALSE(DwarfFile::open("/dev/null"));
  EXPECT_FALSE(DwarfFile::open(DVM_SOURCE_DIR "/README.md"));
}

MappedObject mapped(std::string_view name, bool is_program, uint64_t address = 0) {
  MappedObject object;
  object.name = name, object.path = object.open_path = program(name);
  object.is_program = is_program;
  object.address = address, object.offset = address == 0 ? 0 : 0x1000;
  return object;
}

TEST(TargetTypesTest, AsksTheProgramFirst) {
  TargetTypes types;
  types.add({mapped("classes", false), mapped("types", true)});
  auto node = types.find_type("", DescribedAs::structure, "node");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(types.members(*node).size(), 12U);
  EXPECT_EQ(types.find_type("classes", DescribedAs::structure, "node").error().message,
            "it is not in the debug information of classes");
  EXPECT_TRUE(types.find_type("a.out", DescribedAs::structure, "node"));
  EXPECT_EQ(types.find_type("libz", DescribedAs::structure, "node").error().message, "the process has no module 'libz'");
}

TEST(TargetTypesTest, AddressesOfData) {
  TargetTypes unmapped;
  unmapped.add({mapped("types", true)});
  EXPECT_EQ(unmapped.find_data("", "counter")->address, 0U);
  TargetTypes types;
  types.add({mapped("types", true, 0x555555555000)});
  auto counter = types.find_data("a.out", "counter");
  ASSERT_TRUE(counter) << counter.error().message;
  EXPECT_EQ(counter->address >> 12, 0x555555558U);  // its page is the third after the code's
  EXPECT_TRUE(counter->has_type);
  EXPECT_EQ(types.find_data("", "countr").error().message, "Unknown symbol name");
  EXPECT_THAT(types.similar_data("", "countr"), ElementsAre("counter"));
  EXPECT_EQ(types.find_data("", "per_thread").error().message, "per_thread is thread-local: each thread has its own");
}

TEST(TargetTypesTest, WithoutDebugInformation) {
  TargetTypes types;
  types.add({mapped("types_bare", true, 0x555555555000)});
  EXPECT_EQ(types.find_type("", DescribedAs::structure, "node").error().message, "types_bare: it has no debug information");
  auto counter = types.find_data("", "counter");
  ASSERT_TRUE(counter);
  EXPECT_FALSE(counter->has_type);
}

}  // namespace
}  // namespace dvm::runtime
