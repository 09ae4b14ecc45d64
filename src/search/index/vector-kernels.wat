;; The two inner loops of the vector index, sixteen numbers at a time.
;; Compiled into vector-kernels.ts by `npm run docs`; a test compares the two.
(module
  ;; The vectors, shared by all threads.
  (import "memories" "vectors" (memory $vectors 1 65536 shared))
  ;; The working memory of one thread's query.
  (import "memories" "query" (memory $query 1))

  ;; Counts the bits in which each of `count` records differs from the query, and the records per distance.
  ;; Records are `stride` bytes, a multiple of 16. A record counts if it has a 1 in `present` and in `eligible`, one byte each;
  ;; all others get the distance 0xffff. Query, `eligible`, distances (two bytes each) and the histogram (four bytes each)
  ;; are in the memory of the query.
  (func (export "differences")
    (param $records i32) (param $count i32) (param $stride i32) (param $present i32)
    (param $query i32) (param $eligible i32) (param $out i32) (param $histogram i32)
    (local $at i32) (local $record i32) (local $distance i32) (local $bits i64)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $record) (local.get $count)))
        (local.set $distance (i32.const 0xffff))
        (if (i32.and
              (i32.load8_u $vectors (i32.add (local.get $present) (local.get $record)))
              (i32.load8_u $query (i32.add (local.get $eligible) (local.get $record))))
          (then
            (local.set $at (i32.const 0))
            (local.set $bits (i64.const 0))
            (loop $part
              ;; Processors count the bits of 64-bit numbers in one step, but not those of vectors.
              (local.set $bits
                (i64.add
                  (local.get $bits)
                  (i64.add
                    (i64.popcnt
                      (i64.xor
                        (i64.load $vectors (i32.add (local.get $records) (local.get $at)))
                        (i64.load $query (i32.add (local.get $query) (local.get $at)))))
                    (i64.popcnt
                      (i64.xor
                        (i64.load $vectors offset=8 (i32.add (local.get $records) (local.get $at)))
                        (i64.load $query offset=8 (i32.add (local.get $query) (local.get $at))))))))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (br_if $part (i32.lt_u (local.get $at) (local.get $stride))))
            (local.set $distance (i32.wrap_i64 (local.get $bits)))
            (local.set $at (i32.add (local.get $histogram) (i32.shl (local.get $distance) (i32.const 2))))
            (i32.store $query (local.get $at) (i32.add (i32.load $query (local.get $at)) (i32.const 1)))))
        (i32.store16 $query
          (i32.add (local.get $out) (i32.shl (local.get $record) (i32.const 1)))
          (local.get $distance))
        (local.set $records (i32.add (local.get $records) (local.get $stride)))
        (local.set $record (i32.add (local.get $record) (i32.const 1)))
        (br $next))))

  ;; The inner product of `length` signed bytes and floats; `length` is a multiple of 8.
  (func (export "product") (param $bytes i32) (param $length i32) (param $floats i32) (result f32)
    (local $end i32) (local $eight v128) (local $low v128) (local $high v128)
    (local.set $end (i32.add (local.get $bytes) (local.get $length)))
    (block $done
      (loop $part
        (br_if $done (i32.ge_u (local.get $bytes) (local.get $end)))
        (local.set $eight (v128.load8x8_s $vectors (local.get $bytes)))
        (local.set $low
          (f32x4.add
            (local.get $low)
            (f32x4.mul
              (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $eight)))
              (v128.load $query (local.get $floats)))))
        (local.set $high
          (f32x4.add
            (local.get $high)
            (f32x4.mul
              (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $eight)))
              (v128.load $query offset=16 (local.get $floats)))))
        (local.set $bytes (i32.add (local.get $bytes) (i32.const 8)))
        (local.set $floats (i32.add (local.get $floats) (i32.const 32)))
        (br $part)))
    (local.set $low (f32x4.add (local.get $low) (local.get $high)))
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $low)) (f32x4.extract_lane 1 (local.get $low)))
      (f32.add (f32x4.extract_lane 2 (local.get $low)) (f32x4.extract_lane 3 (local.get $low))))))
