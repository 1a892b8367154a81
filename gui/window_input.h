// Keys for a window that draws when something happens: none is lost, and each event is followed by
// frames enough to see what it did.
//
// Dear ImGui 1.86 looks at keys once a frame: a press whose release comes before the next frame
// would never have been, and of two keys of one frame one may be overlooked. Events are kept and
// given to it one press per frame, letters among them in their order; the modifiers of a
// combination stay as they were when its key went down. One thread.
#pragma once

#include <array>
#include <deque>
#include <vector>

struct GLFWwindow;

namespace hostir::gui {

/// A change of a key, in GLFW's numbers, or a letter that was typed.
struct KeyEvent {
  int key = 0, scancode = 0, action = 0, mods = 0;
  unsigned letter = 0;  // Unicode; 0: a change of a key
  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

enum class Typing : bool { kNo, kYes };

/// Which changes one frame may see. No window.
class KeyQueue {
 public:
  void push(const KeyEvent& event) { events_.push_back(event); }
  bool empty() const { return events_.empty(); }
  /// The oldest ones: of each key one, one press, and no change of a modifier behind it. While a
  /// field is typed into, letters come without their keys, as many as there are up to a key that
  /// types none.
  std::vector<KeyEvent> next_frame(Typing typing = Typing::kNo);

 private:
  std::deque<KeyEvent> events_;
};

class WindowInput {
 public:
  /// After the back end of ImGui was installed, whose key callback it takes the place of.
  explicit WindowInput(GLFWwindow* window);
  WindowInput(const WindowInput&) = delete;
  WindowInput& operator=(const WindowInput&) = delete;
  ~WindowInput();

  /// Before each frame: what ImGui is to know of the keys in it.
  void next_frame();
  /// Keys are left for frames to come.
  bool waits() const { return !keys_.empty(); }
  /// After a frame: whether mouse or keys were not what they were in the frame before.
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
