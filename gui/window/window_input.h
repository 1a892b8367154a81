// Input for a window that draws on events. No key and no click is lost, and each event is followed
// by enough frames to show its effect.
//
// Dear ImGui 1.86 samples keys once per frame. It would miss a press whose release comes before the
// next frame, and it may miss one of two keys pressed in the same frame. Therefore events,
// including typed letters, are queued and passed on in order, one press per frame. The modifiers of
// a combination keep the state they had when its key went down. It also ignores a press on an item
// that it has not seen the mouse over before: a mouse that moves and presses between two frames is
// shown at the new place for a frame, then pressed there. Single-threaded.
#pragma once

#include <array>
#include <deque>
#include <vector>

struct GLFWwindow;

namespace hostir::gui {

/// A key change, in GLFW's codes, or a typed letter.
struct KeyEvent {
  int key = 0, scancode = 0, action = 0, mods = 0;
  unsigned letter = 0;  // Unicode; 0 for a key change
  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

enum class Typing : bool { kNo, kYes };

/// Decides which changes one frame may see. Independent of the window.
class KeyQueue {
 public:
  void push(const KeyEvent& event) { events_.push_back(event); }
  bool empty() const { return events_.empty(); }
  /// Returns the oldest events: one change per key, one press, and no change of a modifier after
  /// that press. While a text field has the focus, letters come without their key events, and all
  /// of them up to the next key that types no letter.
  std::vector<KeyEvent> next_frame(Typing typing = Typing::kNo);

 private:
  std::deque<KeyEvent> events_;
};

/// A button of the mouse that went down or up, and where.
struct MouseEvent {
  float x = 0, y = 0;
  int button = 0;
  bool down = false;
};

/// The mouse as one frame sees it.
struct MouseFrame {
  float x = 0, y = 0;
  std::array<bool, 5> down{};
  friend bool operator==(const MouseFrame&, const MouseFrame&) = default;
};

/// Decides which changes of the mouse one frame may see. Independent of the window.
class MouseQueue {
 public:
  void push(const MouseEvent& event) { events_.push_back(event); }
  bool empty() const { return events_.empty(); }
  /// The next frame's mouse, which is at `x`, `y` now. A frame has at most one change of a button;
  /// a press at a new place waits for a frame that shows the mouse there.
  MouseFrame next_frame(float x, float y);

 private:
  std::deque<MouseEvent> events_;
  MouseFrame shown_;
};

class WindowInput {
 public:
  /// Construct after ImGui's GLFW back end: replaces its callbacks for keys and mouse buttons.
  explicit WindowInput(GLFWwindow* window);
  WindowInput(const WindowInput&) = delete;
  WindowInput& operator=(const WindowInput&) = delete;
  ~WindowInput();

  /// Call before each frame: passes the frame's key events to ImGui.
  void next_frame();
  /// Call between the back end's new frame and ImGui's: shows ImGui the frame's mouse.
  void show_mouse();
  /// True if keys or clicks are queued for later frames.
  bool waits() const { return !keys_.empty() || !mouse_.empty(); }
  /// Call after a frame: true if mouse or keys changed since the previous frame.
  bool changed();

 private:
  struct State {
    float mouse_x = 0, mouse_y = 0, wheel = 0;
    std::array<bool, 5> buttons{};
    std::array<bool, 512> keys{};
    bool operator==(const State&) const = default;
  };
  static void on_key(GLFWwindow* window, int key, int scancode, int action, int mods);
  static void on_letter(GLFWwindow* window, unsigned letter);
  static void on_button(GLFWwindow* window, int button, int action, int mods);

  GLFWwindow* window_;
  KeyQueue keys_;
  MouseQueue mouse_;
  State seen_;
};

}  // namespace hostir::gui
