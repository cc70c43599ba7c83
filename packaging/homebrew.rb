# SPDX-License-Identifier: Apache-2.0
# A formula for Homebrew. Untried: no macOS was at hand; the parts that only Linux has have a fallback, which
# the build for WebAssembly compiles. url and sha256 are those of the archive of a release (`meson dist`).
class Gibbsite < Formula
  desc "Inference in discrete graphical models, with an error for every number"
  homepage "URL of the repository"
  url "URL of gibbsite-0.2.0.tar.xz"
  sha256 "that of the archive"
  license "Apache-2.0"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on "xz"
  depends_on "zstd"

  def install
    system "meson", "setup", "build", *std_meson_args, "-Dtests=disabled", "-Dpython=disabled", "-Dmpi=disabled"
    system "ninja", "-C", "build", "product"
    system "meson", "install", "-C", "build", "--no-rebuild"
    pkgshare.install "examples"
  end

  test do
    assert_match "rain", shell_output("#{bin}/gibbsite marginals #{pkgshare}/examples/sprinkler.bif -q")
  end
end
