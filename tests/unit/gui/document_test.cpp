// Typed text is never lost and never ends up in another file. A newer file is never replaced
// without asking. Settings are written as soon as they change.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "gui/files/unsaved_texts.h"
#include "hostir/io/files.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

std::string mlp() { return io::read_file(kMlp).value_or(""); }
std::string on_disk(const std::string& path) { return io::read_file(path).value_or("(none)"); }

// Changes the file as another program would: in place, a moment later.
void change_outside(Workbench& w, const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  for (int i = 0; i < 70; ++i) w->step();  // files are checked once a second
}

// Types at the start of the text.
void type_first(Workbench& w, const std::string& text) {
  w.only("editor");
  ASSERT_TRUE(w.click("editor/text"));
  w->press("Ctrl+A");
  w->press("Home");
  w->type(text);
  w->wait_until_idle(30);
}

std::string fresh_settings(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  std::filesystem::remove(path);
  std::filesystem::remove_all(path + ".unsaved");
  return path;
}

size_t kept_texts(const std::string& settings) {
  size_t n = 0;
  std::error_code error;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(settings + ".unsaved", error))
    ++n;
  return n;
}

TEST(Document, WithoutEditsItFollowsItsFile) {
  const std::string path = write_file("follows.hir", mlp());
  Workbench w(path);
  w.only("editor");
  change_outside(w, path, "// newer\n" + mlp());
  EXPECT_EQ(w.model().document().text(), "// newer\n" + mlp());
  EXPECT_EQ(w.text("editor/state"), "as in the file");
  EXPECT_TRUE(says(w.text("banner"), "changed by another program")) << "what runs is older";
  ASSERT_TRUE(w.click("banner/file.reload"));
  EXPECT_FALSE(w.has("banner")) << w.text("banner");
  EXPECT_EQ(w.text("editor/state"), "as in the file");
  // Rewriting the file with the same bytes is not a change.
  change_outside(w, path, "// newer\n" + mlp());
  EXPECT_FALSE(w.has("banner")) << w.text("banner");
}

// The active text field has its own copy, which must not overwrite the new text.
TEST(Document, FollowsItsFileAlsoWhileTheFieldHasTheKeyboard) {
  const std::string path = write_file("follows_typed.hir", mlp());
  Workbench w(path);
  type_first(w, "x");
  w->press("Ctrl+Z");
  w->wait_until_idle();
  ASSERT_EQ(w.text("editor/state"), "as in the file");
  change_outside(w, path, "// newer\n" + mlp());
  ASSERT_EQ(w.model().document().text(), "// newer\n" + mlp());
  type_first(w, "// mine\n");
  ASSERT_TRUE(w.press("Ctrl+S"));
  EXPECT_EQ(on_disk(path), "// mine\n// newer\n" + mlp());
}

TEST(Document, ReloadingAndReopeningTakeTheNewerFile) {
  for (const char* how : {"reload", "key", "open"}) {
    const std::string path = write_file("reload.hir", mlp());
    Workbench w(path);
    w.only("editor");
    std::ofstream(path, std::ios::binary) << "// newer\n" + mlp();
    if (how == std::string("reload")) {
      w.perform("file.reload");
    } else if (how == std::string("key")) {
      w.press("Ctrl+R");
    } else {
      w->app().drop_file(path);
      w->wait_until_idle(30);
    }
    for (int i = 0; i < 70; ++i) w->step();
    EXPECT_EQ(w.model().document().text(), "// newer\n" + mlp()) << how;
    type_first(w, "// mine\n");
    ASSERT_TRUE(w.click("editor/save"));
    EXPECT_FALSE(w.has("ask")) << how;
    EXPECT_EQ(on_disk(path), "// mine\n// newer\n" + mlp()) << how;
  }
}

TEST(Document, WhereBothChangedAPersonChooses) {
  const std::string path = write_file("both.hir", mlp());
  const std::string mine = "// mine\n" + mlp();
  const std::string newer = mlp() + "// newer\n";
  const auto start = [&](Workbench& w) {
    type_first(w, "// mine\n");
    change_outside(w, path, newer);
    ASSERT_EQ(w.text("editor/state"), "changed, and so was the file");
    ASSERT_TRUE(says(w.text("banner"), "unsaved changes"));
    EXPECT_EQ(w.model().document().text(), mine);
  };
  {
    Workbench w(path);
    start(w);
    ASSERT_TRUE(w.click("editor/compare"));
    EXPECT_EQ(w.text("editor/comparison"), "+// mine\n-// newer\n");
    ASSERT_TRUE(w.click("editor/compare_end"));
    ASSERT_TRUE(w.click("editor/keep_mine"));
    EXPECT_EQ(w.text("editor/state"), "changed");
    EXPECT_EQ(on_disk(path), newer) << "nothing is written before it is saved";
    ASSERT_TRUE(w.click("editor/save"));
    EXPECT_FALSE(w.has("ask")) << "this was answered";
    EXPECT_EQ(on_disk(path), mine);
  }
  write_file("both.hir", mlp());
  Workbench w(path);
  start(w);
  ASSERT_TRUE(w.click("banner/file.take_file"));
  EXPECT_EQ(w.model().document().text(), newer);
  EXPECT_EQ(w.text("editor/state"), "as in the file");
  ASSERT_TRUE(w.click("editor/mine")) << "there is a way back";
  EXPECT_EQ(w.model().document().text(), mine);
}

// The file changed so recently that the window has not noticed yet.
TEST(Document, SavingNeverReplacesANewerFileUnasked) {
  const std::string path = write_file("asked.hir", mlp());
  const std::string newer = mlp() + "// newer\n";
  Workbench w(path);
  type_first(w, "// mine\n");
  std::ofstream(path, std::ios::binary) << newer;
  ASSERT_TRUE(w.press("Ctrl+S"));
  ASSERT_TRUE(w.has("ask"));
  EXPECT_EQ(on_disk(path), newer);
  ASSERT_TRUE(w.press("Esc"));
  EXPECT_FALSE(w.has("ask"));
  EXPECT_EQ(on_disk(path), newer);
  ASSERT_TRUE(w.click("editor/save"));
  ASSERT_TRUE(w.click("ask/overwrite"));
  EXPECT_EQ(on_disk(path), "// mine\n" + mlp());
  EXPECT_EQ(w.text("editor/state"), "as in the file");
}

// Even if time and size are the same.
TEST(Document, AFileOfTheSameTimeAndSizeIsComparedByItsBytes) {
  const std::string path = write_file("same_time.hir", "// aaaa\n" + mlp());
  const auto time = std::filesystem::last_write_time(path);
  Workbench w(path);
  type_first(w, "// mine\n");
  write_file("same_time.hir", "// bbbb\n" + mlp());
  std::filesystem::last_write_time(path, time);
  ASSERT_TRUE(w.press("Ctrl+S"));
  EXPECT_TRUE(w.has("ask"));
  EXPECT_EQ(on_disk(path), "// bbbb\n" + mlp());
}

TEST(Document, SavedUnderAnotherNameThatFileIsOpen) {
  const std::string path = write_file("first.hir", mlp());
  const std::string other = testing::TempDir() + "second.hir";
  std::filesystem::remove(other);
  Workbench w(path);
  type_first(w, "// mine\n");
  ASSERT_TRUE(w.press("Ctrl+Shift+S"));
  ASSERT_TRUE(w.fill("open/path", other));
  EXPECT_EQ(on_disk(other), "// mine\n" + mlp());
  EXPECT_EQ(on_disk(path), mlp());
  EXPECT_EQ(w.model().path(), other);
  EXPECT_FALSE(w.model().document().unsaved());
  // An existing file is not replaced without asking.
  type_first(w, "// again\n");
  ASSERT_TRUE(w.press("Ctrl+Shift+S"));
  ASSERT_TRUE(w.fill("open/path", path));
  ASSERT_TRUE(w.has("ask/overwrite"));
  EXPECT_EQ(on_disk(path), mlp());
  ASSERT_TRUE(w.click("ask/cancel"));
  EXPECT_EQ(on_disk(path), mlp());
  EXPECT_EQ(w.text("editor/state"), "changed");
}

TEST(Document, AFileThatWasDeletedIsSavedAgain) {
  const std::string path = write_file("deleted.hir", mlp());
  Workbench w(path);
  w.only("editor");
  std::filesystem::remove(path);
  for (int i = 0; i < 70; ++i) w->step();
  EXPECT_EQ(w.text("editor/state"), "the file was deleted");
  ASSERT_TRUE(w.click("editor/save"));
  EXPECT_EQ(on_disk(path), mlp());
}

// A fix for one program is never applied to another.
TEST(Document, AProposedTextBelongsToTheProgramThatItWasMadeFrom) {
  const std::string hangs = on_disk("tests/programs/deadlock.hir");
  const std::string path = write_file("hangs.hir", hangs);
  Workbench w(path, 1600, 1000, "", "@forgotten");
  w.press("F5");
  w.perform("whatif");
  ASSERT_TRUE(w.model().what_if().result());
  const TextForDocument proposed =
      w.model().what_if().text_of(w.model().what_if().result()->trials[0]);
  const std::string other = write_file("other.hir", mlp());
  w->app().drop_file(other);
  ASSERT_TRUE(w->wait_until_idle(30));
  ASSERT_EQ(w.model().path(), other);
  w.only("whatif");
  EXPECT_FALSE(w.has("whatif/open/0")) << "it was about another program";
  EXPECT_FALSE(w.model().document().put(proposed));
  w.only("editor");
  EXPECT_EQ(w.model().document().text(), mlp());
  EXPECT_EQ(w.text("editor/state"), "as in the file");
  w.press("Ctrl+S");
  EXPECT_EQ(on_disk(other), mlp());
}

// The edit is proposed for the text that ran, but the file has changed since.
TEST(Document, AProposedTextOfAnOlderFileDoesNotReplaceTheNewerOne) {
  const std::string hangs = on_disk("tests/programs/deadlock.hir");
  const std::string path = write_file("hangs_older.hir", hangs);
  Workbench w(path, 1600, 1000, "", "@forgotten");
  w.press("F5");
  w.perform("whatif");
  ASSERT_TRUE(w.model().what_if().result());
  change_outside(w, path, hangs + "// newer\n");
  w.only("whatif");
  ASSERT_TRUE(w.click("whatif/open/0"));
  w.only("editor");
  EXPECT_EQ(w.text("editor/state"), "changed, and so was the file");
  ASSERT_TRUE(w.press("Ctrl+S"));
  EXPECT_TRUE(w.has("ask/overwrite"));
  EXPECT_EQ(on_disk(path), hangs + "// newer\n");
}

TEST(Document, OpeningAnotherFileAsksForTheUnsavedText) {
  const std::string path = write_file("asks.hir", mlp());
  Workbench w(path);
  type_first(w, "// mine\n");
  w->app().drop_file("tests/programs/simple_add.hir");
  w->wait_until_idle(30);
  ASSERT_TRUE(says(w.text("ask"), "asks.hir"));
  EXPECT_EQ(w.model().path(), path) << "nothing is opened before the answer";
  ASSERT_TRUE(w.click("ask/cancel"));
  EXPECT_EQ(w.model().document().text(), "// mine\n" + mlp());
  w->app().drop_file("tests/programs/simple_add.hir");
  w->wait_until_idle(30);
  ASSERT_TRUE(w.click("ask/save"));
  EXPECT_EQ(on_disk(path), "// mine\n" + mlp());
  EXPECT_EQ(w.model().path(), "tests/programs/simple_add.hir");
  w->app().drop_file(path);
  w->wait_until_idle(30);
  type_first(w, "// more\n");
  w->app().drop_file("tests/programs/simple_add.hir");
  w->wait_until_idle(30);
  ASSERT_TRUE(w.click("ask/discard"));
  EXPECT_EQ(on_disk(path), "// mine\n" + mlp());
  EXPECT_EQ(w.model().path(), "tests/programs/simple_add.hir");
}

TEST(Document, QuittingAsksForTheUnsavedText) {
  const std::string path = write_file("quits.hir", mlp());
  Workbench w(path);
  type_first(w, "// mine\n");
  ASSERT_TRUE(w.press("Ctrl+Q")) << "also while it is typed";
  EXPECT_FALSE(w->app().wants_quit());
  ASSERT_TRUE(w.has("ask"));
  ASSERT_TRUE(w.press("Esc"));
  EXPECT_FALSE(w->app().wants_quit());
  w->app().request_quit();  // the window's close button
  w->wait_until_idle(30);
  ASSERT_TRUE(w.click("ask/save"));
  EXPECT_TRUE(w->app().wants_quit());
  EXPECT_EQ(on_disk(path), "// mine\n" + mlp());
}

TEST(Document, WithoutEditsNothingIsAsked) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("Ctrl+Q"));
  EXPECT_TRUE(w->app().wants_quit());
}

// The process dies without warning: only what it has already written survives.
TEST(Unsaved, TextIsThereAfterAKill) {
  const std::string settings = fresh_settings("killed.conf");
  const std::string path = write_file("killed.hir", mlp());
  const std::string copy = fresh_settings("killed_copy.conf");
  {
    Workbench w(path, 1600, 1000, settings);
    type_first(w, "// mine\n");
    for (int i = 0; i < 40; ++i) w->step();
    EXPECT_EQ(kept_texts(settings), 1u);
    std::filesystem::copy(settings + ".unsaved", copy + ".unsaved");
    w.model().document().revert();
    for (int i = 0; i < 40; ++i) w->step();
    EXPECT_EQ(kept_texts(settings), 0u) << "it was undone";
  }
  Workbench w(path, 1600, 1000, copy);
  ASSERT_TRUE(says(w.text("banner"), "Unsaved text")) << w.text("banner");
  w.only("editor");
  EXPECT_EQ(w.text("editor/state"), "as in the file") << "nobody has asked for it yet";
  ASSERT_TRUE(w.click("banner/unsaved.compare"));
  EXPECT_EQ(w.text("editor/comparison"), "-// mine\n");
  ASSERT_TRUE(w.click("banner/unsaved.take"));
  EXPECT_EQ(w.model().document().text(), "// mine\n" + mlp());
  EXPECT_EQ(w.text("editor/state"), "changed");
  EXPECT_FALSE(w.has("banner")) << w.text("banner");
  EXPECT_EQ(kept_texts(copy), 1u) << "it is this window's now";
  ASSERT_TRUE(w.press("Ctrl+S"));
  EXPECT_EQ(on_disk(path), "// mine\n" + mlp());
  EXPECT_EQ(kept_texts(copy), 0u);
}

TEST(Unsaved, TextOfAFileThatWasChangedSinceIsOlderThanIt) {
  const std::string settings = fresh_settings("older.conf");
  const std::string path = write_file("older.hir", mlp());
  {
    Workbench w(path, 1600, 1000, settings);
    type_first(w, "// mine\n");
  }
  write_file("older.hir", mlp() + "// newer\n");
  Workbench w(path, 1600, 1000, settings);
  ASSERT_TRUE(w.click("banner/unsaved.take"));
  w.only("editor");
  EXPECT_EQ(w.text("editor/state"), "changed, and so was the file");
  ASSERT_TRUE(w.press("Ctrl+S"));
  EXPECT_TRUE(w.has("ask/overwrite"));
  EXPECT_EQ(on_disk(path), mlp() + "// newer\n");
}

TEST(Unsaved, KeptForLaterItIsOfferedAgainAndDiscardedItIsGone) {
  const std::string settings = fresh_settings("later.conf");
  const std::string path = write_file("later.hir", mlp());
  {
    Workbench w(path, 1600, 1000, settings);
    type_first(w, "// mine\n");
    w.press("Ctrl+Q");
    ASSERT_TRUE(w.click("ask/keep"));
    EXPECT_TRUE(w->app().wants_quit());
  }
  EXPECT_EQ(on_disk(path), mlp());
  {
    Workbench w("tests/programs/simple_add.hir", 1600, 1000, settings);
    EXPECT_TRUE(says(w.text("banner"), "later.hir")) << w.text("banner");
  }
  {
    Workbench w("tests/programs/deadlock.hir", 1600, 1000, settings);
    ASSERT_TRUE(w.press("F5"));
    EXPECT_TRUE(says(w.text("banner"), "deadlock"))
        << "unsaved text of another file hides the fault of this one";
    ASSERT_TRUE(w.click("banner/dismiss"));
    EXPECT_TRUE(says(w.text("banner"), "later.hir")) << w.text("banner");
  }
  {
    Workbench w("", 1600, 1000, settings);  // started without a file
    w->step();
    EXPECT_TRUE(says(w.text("banner"), "later.hir")) << w.text("banner");
    ASSERT_TRUE(w.click("banner/unsaved.open"));
    EXPECT_EQ(w.model().path(), path);
    ASSERT_TRUE(w.click("banner/unsaved.discard"));
    EXPECT_FALSE(w.has("banner")) << w.text("banner");
  }
  EXPECT_EQ(kept_texts(settings), 0u);
}

TEST(Unsaved, AFileThatIsGoneGetsItsTextBack) {
  const std::string settings = fresh_settings("gone.conf");
  const std::string path = write_file("gone.hir", mlp());
  {
    Workbench w(path, 1600, 1000, settings);
    type_first(w, "// mine\n");
  }
  std::filesystem::remove(path);
  Workbench w(path, 1600, 1000, settings);
  ASSERT_TRUE(w.click("banner/unsaved.take"));
  EXPECT_EQ(w.model().document().text(), "// mine\n" + mlp());
  ASSERT_TRUE(w.click("editor/save"));
  EXPECT_EQ(on_disk(path), "// mine\n" + mlp());
}

TEST(Unsaved, DamagedFilesAreLeftAlone) {
  const std::string settings = fresh_settings("damaged.conf");
  std::filesystem::create_directories(settings + ".unsaved");
  const std::string good =
      "Unsaved text of the Host-IR Workbench\nfile = /x.hir\nwriter = gone\nbase_bytes = 3\nabcdef";
  for (size_t bytes = 0; bytes <= good.size(); ++bytes) {
    std::ofstream(settings + ".unsaved/1.unsaved", std::ios::binary) << good.substr(0, bytes);
    const auto left = UnsavedTexts(settings + ".unsaved").left();
    for (const UnsavedText& text : left) EXPECT_EQ(text.base, "abc");
    if (bytes == good.size()) {
      ASSERT_EQ(left.size(), 1u);
      EXPECT_EQ(left[0].text, "def");
    }
  }
}

// Settings are also written before exit.
TEST(KeptAtOnce, SettingsAreOnTheDiskWhileItRuns) {
  const std::string settings = fresh_settings("at_once.conf");
  Workbench w(kMlp, 1600, 1000, settings);
  const auto written = [&] {
    for (int i = 0; i < 40; ++i) w->step();  // less than a second
    return on_disk(settings);
  };
  w.perform("break all_reduce");
  EXPECT_TRUE(says(written(), "break = break all_reduce"));
  w.perform("view.theme");
  EXPECT_TRUE(says(written(), "theme = light"));
  w.model().watches.push_back("%x.max");
  EXPECT_TRUE(says(written(), "watch = %x.max"));
  w.press("Ctrl+B");
  EXPECT_TRUE(says(written(), "bookmark = 0"));
  w.model().timeline_notes.push_back({17, "slow here"});
  EXPECT_TRUE(says(written(), "note = 17 slow here"));
  const std::string before = load_settings(settings).layout;
  w.perform("layout.Deadlock");
  EXPECT_FALSE(says(written(), "layout = " + before + "\n"));
  EXPECT_NE(load_settings(settings).layout, "");
  w.perform("delete");
  EXPECT_FALSE(says(written(), "break = "));
}

TEST(KeptAtOnce, TwoWindowsKeepEachOthersPrograms) {
  const std::string settings = fresh_settings("two_windows.conf");
  const auto first = write_file("window_one.hir", mlp());
  const auto second = write_file("window_two.hir", mlp());
  {
    Workbench w(first, 1600, 1000, settings);
    w.perform("break all_reduce");
    w->app().write_what_changed();
    // The other window writes the file.
    Settings other = load_settings(settings);
    other.keep_program({second, {"break launch"}, {}, {}, {}});
    other.add_recent(second);
    ASSERT_TRUE(save_settings(settings, other));
    w.perform("view.theme");
  }
  const Settings kept = load_settings(settings);
  ASSERT_TRUE(kept.find_program(first));
  ASSERT_TRUE(kept.find_program(second));
  EXPECT_EQ(kept.theme, ThemeKind::kLight);
  EXPECT_NE(std::find(kept.recent.begin(), kept.recent.end(), second), kept.recent.end());
}

// If nothing reaps dead processes, as in many containers, a killed window stays a zombie.
TEST(Unsaved, AZombieDoesNotOwnItsText) {
  const std::string folder = testing::TempDir() + "zombie.unsaved";
  std::filesystem::remove_all(folder);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    UnsavedTexts texts(folder);
    const bool kept = texts.keep("/x.hir", "abc", "abcd").has_value();
    _exit(kept ? 0 : 1);
  }
  siginfo_t end{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
  const std::vector<UnsavedText> left = UnsavedTexts(folder).left();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].text, "abcd");
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hostir::gui
