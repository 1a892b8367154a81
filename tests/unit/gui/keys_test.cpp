// Keys that arrive faster than frames are drawn.
#include "gui/app/actions.h"
#include "gui/window/window_input.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

constexpr int kCtrl = 341;  // GLFW's left Ctrl

using Frames = std::vector<std::vector<KeyEvent>>;

KeyEvent down(int key) { return {key, 0, 1, 0}; }
KeyEvent up(int key) { return {key, 0, 0, 0}; }

Frames frames_of(const std::vector<KeyEvent>& events) {
  KeyQueue queue;
  for (const KeyEvent& event : events) queue.push(event);
  Frames frames;
  while (!queue.empty()) frames.push_back(queue.next_frame());
  return frames;
}

TEST(Keys, APressAndItsReleaseAreTwoFrames) {
  const int f10 = key_code("F10");
  EXPECT_EQ(frames_of({down(f10), up(f10), down(f10), up(f10)}),
            (Frames{{down(f10)}, {up(f10)}, {down(f10)}, {up(f10)}}));
}

// Releasing Ctrl before Q still counts as Ctrl+Q.
TEST(Keys, ModifiersStayDownForTheFrameOfTheirKey) {
  const int q = key_code("Q");
  EXPECT_EQ(frames_of({down(kCtrl), down(q), up(kCtrl), up(q)}),
            (Frames{{down(kCtrl), down(q)}, {up(kCtrl), up(q)}}));
  KeyQueue queue;
  queue.push(down(kCtrl));
  EXPECT_EQ(queue.next_frame(), std::vector<KeyEvent>{down(kCtrl)});
  for (const KeyEvent& event : {down(q), up(kCtrl), up(q)}) queue.push(event);
  EXPECT_EQ(queue.next_frame(), std::vector<KeyEvent>{down(q)});
  EXPECT_EQ(queue.next_frame(), (std::vector<KeyEvent>{up(kCtrl), up(q)}));
}

TEST(Keys, AModifierThatComesAfterAKeyIsNotOfIt) {
  const int b = key_code("B");
  EXPECT_EQ(frames_of({down(b), down(kCtrl), up(b), up(kCtrl)}),
            (Frames{{down(b)}, {down(kCtrl), up(b)}, {up(kCtrl)}}));
}

// Two actions get one frame each.
TEST(Keys, TwoKeysAtOnceAreTwoFrames) {
  const int f10 = key_code("F10");
  const int f6 = key_code("F6");
  EXPECT_EQ(frames_of({down(f10), down(f6), up(f10), up(f6)}),
            (Frames{{down(f10)}, {down(f6), up(f10)}, {up(f6)}}));
}

// A letter that overtakes the release of Ctrl would become part of a combination.
TEST(Keys, LettersKeepTheirPlaceAmongKeys) {
  const int a = key_code("A");
  const int home = key_code("Home");
  const int erase = key_code("Backspace");
  const KeyEvent letter{0, 0, 0, 0, 'a'};
  EXPECT_EQ(frames_of({down(kCtrl), down(home), up(home), up(kCtrl), down(a), letter, up(a)}),
            (Frames{{down(kCtrl), down(home)}, {up(home), up(kCtrl), down(a), letter}, {up(a)}}));
  KeyQueue queue;
  const auto typed = [&] { return queue.next_frame(Typing::kYes); };
  using Frame = std::vector<KeyEvent>;
  for (const KeyEvent& event : {down(a), letter, up(a), down(a), letter, up(a), down(erase),
                                up(erase), down(a), letter, up(a)})
    queue.push(event);
  EXPECT_EQ(typed(), (Frame{letter, up(a), letter}));
  EXPECT_EQ(typed(), (Frame{up(a), down(erase)}));
  EXPECT_EQ(typed(), (Frame{up(erase), letter, up(a)}));
  EXPECT_TRUE(queue.empty());
}

// Dear ImGui ignores a press on an item that the mouse was not over in an earlier frame.
TEST(MouseQueue, AQuickClickElsewhereIsAMoveAPressAndARelease) {
  MouseQueue queue;
  EXPECT_EQ(queue.next_frame(1, 2), (MouseFrame{1, 2, {}}));
  queue.push({30, 40, 0, true});
  queue.push({30, 40, 0, false});
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.next_frame(50, 60), (MouseFrame{30, 40, {}}));
  EXPECT_EQ(queue.next_frame(50, 60), (MouseFrame{30, 40, {true}}));
  EXPECT_EQ(queue.next_frame(50, 60), (MouseFrame{30, 40, {}}));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next_frame(50, 60), (MouseFrame{50, 60, {}}));
}

TEST(MouseQueue, AClickWhereTheMouseIsTakesTwoFramesAndADragItsOwn) {
  MouseQueue queue;
  queue.next_frame(5, 5);
  queue.push({5, 5, 1, true});
  EXPECT_EQ(queue.next_frame(5, 5), (MouseFrame{5, 5, {false, true}}));
  EXPECT_EQ(queue.next_frame(9, 5), (MouseFrame{9, 5, {false, true}}));
  queue.push({12, 5, 1, false});
  EXPECT_EQ(queue.next_frame(12, 5), (MouseFrame{12, 5, {}}));
}

}  // namespace
}  // namespace hostir::gui
