// The pid provider on this very process, on one that was just started, and on what it cannot look at.

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "runtime/catalog/catalog.h"
#include "runtime/process/process.h"
#include "runtime/provider/providers.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"
#include "tests/unit/instrument/pid_provider_functions.h"
#include "tests/unit/instrument/traced_child.h"

extern "C" void ppt_instructions();
asm(".pushsection .text\n.globl ppt_instructions\n.type ppt_instructions, @function\nppt_instructions:\n"
    "mov %rdi, %rax\nxor %ecx, %ecx\nmovabs $0x1122334455667788, %rdx\n.byte 0x90\nret\n"
    ".size ppt_instructions, . - ppt_instructions\n.popsection");

// A function of C++ with the pieces that a compiler moves out, and a clone.
asm(".pushsection .text\n.type _ZN3ppt5wholeEi, @function\n_ZN3ppt5wholeEi:\n ret\n.size _ZN3ppt5wholeEi, 1\n"
    ".type _ZN3ppt5wholeEi.cold, @function\n_ZN3ppt5wholeEi.cold:\n ud2\n.size _ZN3ppt5wholeEi.cold, 2\n"
    ".type _ZN3ppt5wholeEi.part.0, @function\n_ZN3ppt5wholeEi.part.0:\n ret\n.size _ZN3ppt5wholeEi.part.0, 1\n"
    ".type _ZN3ppt5wholeEi.isra.0, @function\n_ZN3ppt5wholeEi.isra.0:\n ret\n.size _ZN3ppt5wholeEi.isra.0, 1\n"
    ".popsection");

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

const std::string kPrograms = DVM_BINARY_DIR "/tests/unit/instrument/";

class PidProvider : public testing::Test {
 protected:
  void SetUp() override {
    twin_ = fork();
    if (twin_ == 0) {
      pause();
      _exit(0);
    }
  }
  void TearDown() override {
    kill(twin_, SIGKILL);
    waitpid(twin_, nullptr, 0);
  }
  // The provider of a process that has the same files at the same places as this one.
  std::string self() const { return fmt::format("pid{}", twin_); }
  // "function:name" of what a description finds in the catalog.
  std::vector<std::string> found(const dif::ProbeDesc& description) {
    discovery_ = provider_->discover(description, catalog_);
    std::vector<std::string> names;
    for (const Probe* probe : catalog_.match(description)) names.push_back(probe->function + ":" + probe->name);
    return names;
  }
  const UprobeSite& site(const dif::ProbeDesc& description) {
    return std::get<UprobeSite>(catalog_.match(description).at(0)->site);
  }

  Catalog catalog_;
  std::unique_ptr<Provider> provider_ = make_pid_provider();
  Discovery discovery_;
  pid_t twin_ = 0;
};

TEST_F(PidProvider, FindsAFunctionWhereItIs) {
  dif::ProbeDesc description{self(), "a.out", "ppt_function", "entry"};
  EXPECT_THAT(found(description), ElementsAre("ppt_function:entry"));
  EXPECT_EQ(discovery_.reason, "");
  const Probe* probe = catalog_.match(description).at(0);
  EXPECT_EQ(probe->provider, self());
  EXPECT_EQ(probe->module, "pid_provider_test");
  EXPECT_TRUE(probe->in_program);
  EXPECT_EQ(site(description).offset, test::file_offset(reinterpret_cast<void*>(&ppt_function)));
  EXPECT_EQ(site(description).pid, twin_);
  EXPECT_FALSE(site(description).is_return);
  EXPECT_TRUE(std::filesystem::equivalent(site(description).path, "/proc/self/exe"));
}

TEST_F(PidProvider, NameFieldChoosesEntryReturnOrBoth) {
  EXPECT_THAT(found({self(), "a.out", "ppt_other", "return"}), ElementsAre("ppt_other:return"));
  EXPECT_TRUE(site({self(), "a.out", "ppt_other", "return"}).is_return);
  EXPECT_THAT(found({self(), "a.out", "ppt_function", "en*"}), ElementsAre("ppt_function:entry"));
}

TEST_F(PidProvider, InstructionsHaveTheirOffsetsForNames) {
  EXPECT_THAT(found({self(), "a.out", "ppt_instructions", "3"}), ElementsAre("ppt_instructions:3"));
  const UprobeSite& inside = site({self(), "a.out", "ppt_instructions", "3"});
  EXPECT_EQ(inside.offset, test::file_offset(reinterpret_cast<void*>(&ppt_instructions)) + 3);
  ASSERT_TRUE(inside.inside);
  EXPECT_EQ(inside.inside->at(0), Operand::of_register(saved::rdi));
}

TEST_F(PidProvider, AGlobOrAnEmptyNameTakesInstructionsToo) {
  EXPECT_THAT(found({self(), "a.out", "ppt_instructions", "[0-9a-f]"}),
              ElementsAre("ppt_instructions:0", "ppt_instructions:3", "ppt_instructions:5", "ppt_instructions:f"));
  EXPECT_THAT(found({self(), "a.out", "ppt_instructions", ""}),
              UnorderedElementsAre("ppt_instructions:entry", "ppt_instructions:return", "ppt_instructions:0",
                                   "ppt_instructions:3", "ppt_instructions:5", "ppt_instructions:f", "ppt_instructions:10"));
}

TEST_F(PidProvider, OffsetsMustBeThoseOfInstructions) {
  found({self(), "a.out", "ppt_instructions", "4"});
  EXPECT_EQ(discovery_.tag, "D_PROC_ALIGN");
  EXPECT_EQ(discovery_.reason, "offset 0x4 is not aligned on an instruction");
  found({self(), "a.out", "ppt_instructions", "fff"});
  EXPECT_EQ(discovery_.tag, "D_PROC_OFF");
  EXPECT_EQ(discovery_.reason, "offset 0xfff outside of function 'ppt_instructions'");
  for (const char* name : {"03", "0x3", "1F", "12345678123456781"}) {
    found({self(), "a.out", "ppt_instructions", name});
    EXPECT_EQ(discovery_.tag, "D_PROC_NAME") << name;
  }
  EXPECT_EQ(catalog_.size(), 0U);
}

// The twin has the same addresses.
TEST_F(PidProvider, AnAddressNeedsNoFunction) {
  const auto address = reinterpret_cast<uint64_t>(&ppt_function);
  const uint64_t offset = test::file_offset(reinterpret_cast<void*>(&ppt_function));
  const std::string name = fmt::format("{:x}", address);
  for (const char* module : {"", "a.out"}) EXPECT_THAT(found({self(), module, "-", name}), ElementsAre("-:" + name));
  EXPECT_EQ(site({self(), "", "-", name}).offset, offset);
  found({self(), "", "-", fmt::format("{:x}", address + 1)});
  EXPECT_EQ(discovery_.tag, "D_PROC_ALIGN");
  found({self(), "", "-", "1"});
  EXPECT_EQ(discovery_.reason, "address 0x1 is not in the code of module 'a.out'");
  found({self(), "", "-", "entry"});
  EXPECT_EQ(discovery_.reason, "only individual addresses may be specified with the '-' function");
}

TEST_F(PidProvider, ModuleFieldTakesEveryNameOfAFile) {
  for (const char* module : {"a.out", "pid_provider_test", "pid_prov*", ""}) {
    EXPECT_THAT(found({self(), module, "ppt_other", "entry"}), ElementsAre("ppt_other:entry")) << module;
  }
  for (const char* module : {"libc", "libc.so", "libc.so.6", "libc*", "*/libc.so.*", ""}) {
    EXPECT_THAT(found({self(), module, "fflush_unlocked", "entry"}), ElementsAre("fflush_unlocked:entry")) << module;
  }
  EXPECT_EQ(site({self(), "libc", "fflush_unlocked", "entry"}).offset, test::file_offset(dlsym(RTLD_DEFAULT, "fflush_unlocked")));
}

TEST_F(PidProvider, GlobsTakeEachAddressOnce) {
  EXPECT_THAT(found({self(), "a.out", "ppt_function*", "entry"}), ElementsAre("ppt_function:entry"));
  EXPECT_THAT(found({self(), "a.out", "ppt_[fo]*", "entry"}), UnorderedElementsAre("ppt_function:entry", "ppt_other:entry"));
  EXPECT_GT(found({self(), "libc", "", "entry"}).size(), 1000U);
}

TEST_F(PidProvider, AnAliasThatIsNamedIsTaken) {
  EXPECT_THAT(found({self(), "a.out", "ppt_function_alias", "entry"}), ElementsAre("ppt_function_alias:entry"));
}

TEST_F(PidProvider, ADemangledNameWillDo) {
  EXPECT_THAT(found({self(), "a.out", "ppt_mangled", "entry"}), ElementsAre("_Z11ppt_mangledil:entry"));
  EXPECT_THAT(found({self(), "a.out", "ppt_mangl?d", "return"}), ElementsAre("_Z11ppt_mangledil:return"));
}

TEST_F(PidProvider, ADemangledNameMeansNoPieces) {
  const std::vector<std::string> whole = {"_ZN3ppt5wholeEi:entry", "_ZN3ppt5wholeEi.isra.0:entry"};
  EXPECT_THAT(found({self(), "a.out", "ppt::whole", "entry"}), UnorderedElementsAreArray(whole));
  EXPECT_THAT(found({self(), "a.out", "ppt::who*", "entry"}), UnorderedElementsAreArray(whole));
  EXPECT_THAT(found({self(), "a.out", "*ppt5whole*", "entry"}), UnorderedElementsAreArray(whole));
  EXPECT_THAT(found({self(), "a.out", "_ZN3ppt*.cold", "entry"}), ElementsAre("_ZN3ppt5wholeEi.cold:entry"));
}

TEST_F(PidProvider, AnIndirectFunctionIsTheVariantInUse) {
  EXPECT_EQ(ppt_indirect(1), 44);
  EXPECT_THAT(found({self(), "a.out", "ppt_indirect", "entry"}), ElementsAre("ppt_indirect:entry"));
  EXPECT_EQ(site({self(), "a.out", "ppt_indirect", "entry"}).offset, test::file_offset(reinterpret_cast<void*>(&ppt_other)));
  EXPECT_GT(site({self(), "a.out", "ppt_indirect", "entry"}).size, 0U);
  EXPECT_THAT(found({self(), "libc", "strlen", "entry"}), ElementsAre("strlen:entry"));
}

// A glob takes each address once.
TEST_F(PidProvider, AGlobTakesVariantsThatHaveNoOtherName) {
  EXPECT_THAT(found({self(), "a.out", "ppt_[io]*", "entry"}), UnorderedElementsAre("ppt_instructions:entry", "ppt_other:entry"));
  EXPECT_THAT(found({self(), "a.out", "ppt_ind*", "entry"}), ElementsAre("ppt_indirect:entry"));
}

TEST_F(PidProvider, AnIndirectFunctionOfNoProcessIsRefused) {
  provider_ = make_pid_provider([](int32_t) { return std::vector{unmapped_program("/proc/self/exe")}; });
  EXPECT_THAT(found({self(), "a.out", "ppt_indirect", "entry"}), ElementsAre());
  EXPECT_EQ(discovery_.tag, "D_PROC_FUNC");
  EXPECT_EQ(
      discovery_.reason,
      "'ppt_indirect' in module 'exe' is an indirect function: only a running process shows which of its variants it calls");
}

TEST_F(PidProvider, SaysWhatItDidNotFind) {
  EXPECT_THAT(found({self(), "a.out", "ppt_fnuction", "entry"}), ElementsAre());
  EXPECT_EQ(discovery_.tag, "D_PROC_FUNC");
  EXPECT_EQ(discovery_.reason, "failed to lookup 'ppt_fnuction' in module 'pid_provider_test'");
  EXPECT_THAT(discovery_.advise(), testing::Contains("did you mean 'ppt_function'?"));

  EXPECT_THAT(found({self(), "libq", "f", "entry"}), ElementsAre());
  EXPECT_EQ(discovery_.tag, "D_PROC_LIB");
  EXPECT_THAT(discovery_.reason, HasSubstr("failed to find module 'libq'"));
  EXPECT_THAT(discovery_.advise(), testing::Contains("did you mean 'libc'?"));

  // As dtrace has it: no more than "does not match any probes".
  EXPECT_THAT(found({self(), "", "ppt_fnuction", "entry"}), ElementsAre());
  EXPECT_EQ(discovery_.reason, "");
  EXPECT_THAT(discovery_.advise(), testing::Contains("did you mean 'ppt_function'?"));
  EXPECT_THAT(found({self(), "a.out", "no_such_*", "entry"}), ElementsAre());
  EXPECT_EQ(discovery_.reason, "");
}

TEST_F(PidProvider, RefusesToTraceTheTracer) {
  EXPECT_THAT(found({fmt::format("pid{}", getpid()), "a.out", "ppt_other", "entry"}), ElementsAre());
  EXPECT_EQ(discovery_.reason, fmt::format("process {} is dvm itself", getpid()));
}

TEST_F(PidProvider, RefusesWhatIsNoProbe) {
  found({self(), "a.out", "ppt_other", "exit"});
  EXPECT_EQ(discovery_.tag, "D_PROC_NAME");
  for (const char* provider : {"pid", "pid*", "pid12x", "pid99999999999", "pid0", "pid-1"}) {
    found({provider, "a.out", "ppt_other", "entry"});
    EXPECT_EQ(discovery_.tag, "D_PROC_BADPID") << provider;
    EXPECT_EQ(discovery_.reason, fmt::format("'{}' does not contain a valid pid", provider));
  }
  found({"profile", "", "", "tick-1s"});
  EXPECT_EQ(discovery_.reason, "");
  EXPECT_EQ(catalog_.size(), 0U);
}

TEST_F(PidProvider, RefusesAProcessThatIsGone) {
  pid_t gone = fork();
  if (gone == 0) _exit(0);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(gone), &info, WEXITED | WNOWAIT);
  found({fmt::format("pid{}", gone), "a.out", "main", "entry"});
  EXPECT_EQ(discovery_.tag, "D_PROC_GRAB");
  EXPECT_THAT(discovery_.reason, HasSubstr("it has exited"));
  waitpid(gone, nullptr, 0);
  found({fmt::format("pid{}", gone), "a.out", "main", "entry"});
  EXPECT_EQ(discovery_.tag, "D_PROC_GRAB");
  EXPECT_EQ(discovery_.reason, fmt::format("failed to grab process {}: No such process", gone));
}

class PidProviderKinds : public PidProvider, public testing::WithParamInterface<const char*> {};

// A program that has just been started; its first instruction at the offset is that of its file.
TEST_P(PidProviderKinds, FindsTheFunctionsOfAProgram) {
  auto process = Process::spawn(std::vector{kPrograms + GetParam(), std::string("wait")});
  ASSERT_TRUE(process) << process.error().message;
  std::string provider = fmt::format("pid{}", process->pid());
  EXPECT_THAT(found({provider, "", "sp_[fs]*", "entry"}), UnorderedElementsAre("sp_first:entry", "sp_second:entry"));
  EXPECT_THAT(found({provider, GetParam(), "main", "return"}), ElementsAre("main:return"));
  auto elf = ElfObject::read(kPrograms + GetParam());
  ASSERT_TRUE(elf);
  for (const ElfFunction& function : (*elf)->functions()) {
    if (function.name == "sp_first") {
      EXPECT_EQ(site({provider, "", "sp_first", "entry"}).offset, function.offset);
    }
  }
}

TEST_P(PidProviderKinds, FunctionsOfOneNameAreOneProbeOnEach) {
  auto process = Process::spawn(std::vector{kPrograms + GetParam(), std::string("wait")});
  ASSERT_TRUE(process) << process.error().message;
  dif::ProbeDesc description{fmt::format("pid{}", process->pid()), "a.out", "sp_twin", "entry"};
  EXPECT_THAT(found(description), ElementsAre("sp_twin:entry"));
  const std::vector<UprobeSite>& more = catalog_.match(description).at(0)->more_sites;
  ASSERT_EQ(more.size(), 1U);
  EXPECT_NE(more.at(0).offset, site(description).offset);
}

INSTANTIATE_TEST_SUITE_P(All, PidProviderKinds, testing::Values("source_pie", "source_fixed", "source_static"));

class PidProviderFiles : public PidProvider {
 protected:
  void SetUp() override {
    PidProvider::SetUp();
    path_ = testing::TempDir() + fmt::format("ppt-{}", getpid());
    std::filesystem::copy_file(kPrograms + "source_pie", path_);
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    PidProvider::TearDown();
  }
  std::string path_;
};

TEST_F(PidProviderFiles, OpensTheVeryFileThatRunsWhenItIsReplaced) {
  auto process = Process::spawn(std::vector{path_, std::string("wait")});
  ASSERT_TRUE(process) << process.error().message;
  std::filesystem::remove(path_);
  std::ofstream(path_) << "another file";
  std::string provider = fmt::format("pid{}", process->pid());
  EXPECT_THAT(found({provider, "a.out", "main", "entry"}), ElementsAre("main:entry"));
  auto name = std::filesystem::path(path_).filename().string();
  EXPECT_THAT(found({provider, name, "sp_first", "entry"}), ElementsAre("sp_first:entry"));
}

TEST_F(PidProviderFiles, AStrippedProgramIsSaidToBe) {
  ASSERT_EQ(system(("strip " + path_).c_str()), 0);
  auto process = Process::spawn(std::vector{path_, std::string("wait")});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_THAT(found({fmt::format("pid{}", process->pid()), "a.out", "main", "entry"}), ElementsAre());
  EXPECT_EQ(discovery_.tag, "D_PROC_LIB");
  EXPECT_THAT(discovery_.reason, HasSubstr("stripped"));
}

}  // namespace
}  // namespace dvm::runtime
