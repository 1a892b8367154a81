// Whole-file writes are atomic and keep permissions and links.
#include "hostir/io/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace hostir::io {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        ("files_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  fs::path folder_;
};

TEST_F(Files, PermissionsStay) {
  ASSERT_TRUE(write_file(path("a"), "one"));
  ASSERT_EQ(chmod(path("a").c_str(), 0640), 0);
  ASSERT_TRUE(write_file(path("a"), "two"));
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(read_file(path("a")).value_or(""), "two");
  EXPECT_EQ(entries(), 1u) << "nothing is left beside it";
}

TEST_F(Files, ALinkGoesOnPointingToTheFile) {
  fs::create_directories(folder_ / "there");
  ASSERT_TRUE(write_file(path("there/real"), "one"));
  fs::create_symlink("there/real", folder_ / "link");
  ASSERT_TRUE(write_file(path("link"), "two"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("there/real")).value_or(""), "two");
}

TEST_F(Files, AProtectedFileStays) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  ASSERT_TRUE(write_file(path("a"), "one"));
  ASSERT_EQ(chmod(path("a").c_str(), 0440), 0);
  EXPECT_FALSE(check_writable(path("a")));
  EXPECT_FALSE(write_file(path("a"), "two"));
  EXPECT_EQ(read_file(path("a")).value_or(""), "one");
}

TEST_F(Files, WhatCannotBeWrittenLeavesNothing) {
  fs::create_directories(folder_ / "a");
  EXPECT_FALSE(write_file(path("a"), "x")) << "it is a folder";
  EXPECT_FALSE(write_file(path("no/such/folder"), "x"));
  EXPECT_EQ(entries(), 1u);
}

// A concurrent reader sees the old or the new file, never part of one or nothing.
TEST_F(Files, AReaderSeesWholeFilesOnly) {
  const std::string first(100'000, 'a');
  const std::string second(70'000, 'b');
  ASSERT_TRUE(write_file(path("f"), first));
  std::atomic<bool> over = false;
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(write_file(path("f"), i % 2 ? first : second));
    over = true;
  });
  std::jthread other([&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(write_file(path("f"), i % 2 ? second : first));
  });
  while (!over) {
    const auto seen = read_file(path("f"));
    ASSERT_TRUE(seen);
    ASSERT_TRUE(*seen == first || *seen == second) << seen->size();
  }
}

}  // namespace
}  // namespace hostir::io
