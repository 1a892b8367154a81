// Key input for a window that draws on events. No key is lost, and each event is followed by enough
// frames to show its effect.
//
// Dear ImGui 1.86 samples keys once per frame. It would miss a press whose release comes before the
// next frame, and it may miss one of two keys pressed in the same frame. Therefore events,
// including typed letters, are queued and passed on in order, one press per frame. The modifiers of
// a combination keep the state they had when its key went down. Single-threaded.
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

class WindowInput {
 public:
  /// Construct after ImGui's GLFW back end: replaces its key callback.
  explicit WindowInput(GLFWwindow* window);
  WindowInput(const WindowInput&) = delete;
  WindowInput& operator=(const WindowInput&) = delete;
  ~WindowInput();

  /// Call before each frame: passes the frame's key events to ImGui.
  void next_frame();
  /// True if keys are queued for later frames.
  bool waits() const { return !keys_.empty(); }
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

  GLFWwindow* window_;
  KeyQueue keys_;
  State seen_;
};

}  // namespace hostir::gui
