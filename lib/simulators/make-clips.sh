#!/bin/sh
# Makes clips/: the videos that the simulated upstreams hand out, one for every whole second from 3 to 15 in three
# shapes. They are committed, so nobody needs ffmpeg to run the simulators; run this only to change the pictures.
#
# - H.264 High, yuv420p, 24 frames a second, faststart: every browser plays it while it loads.
# - A quiet 220 Hz tone in mono AAC, because the upstreams deliver sound by default.
# - `-t` on the output cuts both tracks at the whole second, so that `mvhd` says exactly that many seconds.
# - `bitexact` and no metadata: the same ffmpeg makes the same bytes.
#
# Made with ffmpeg 5.1.9.
set -eu
cd "$(dirname "$0")/clips"

make_clip() { # name, width x height, seconds
  ffmpeg -hide_banner -loglevel error -y \
    -f lavfi -i "gradients=size=$2:rate=24:duration=$3:speed=0.03:seed=7" \
    -f lavfi -i "sine=frequency=220:sample_rate=16000:duration=$3" \
    -filter:a volume=0.05 \
    -c:v libx264 -preset veryslow -profile:v high -crf 33 -g 48 -pix_fmt yuv420p -threads 1 \
    -c:a aac -ac 1 -b:a 12k \
    -t "$3" -movflags +faststart -map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact \
    "$1"
}

for seconds in 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  padded=$(printf '%02d' "$seconds")
  make_clip "16x9-${padded}s.mp4" 320x180 "$seconds"
  make_clip "9x16-${padded}s.mp4" 180x320 "$seconds"
  make_clip "1x1-${padded}s.mp4" 240x240 "$seconds"
done
