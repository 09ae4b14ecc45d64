// Finds the nth largest number without sorting all of them.

/** The `n`th largest value, or 0 if there are not more than `n`. Reorders `values`. */
export function nthLargest(values: Float32Array, n: number): number {
  if (values.length <= n) return 0;
  const at = (position: number) => values[position] as number;
  const wanted = values.length - n;
  let [first, last] = [0, values.length - 1];
  // Quickselect: partitions around a pivot, then continues on the side that contains the nth largest.
  while (first < last) {
    const pivot = at((first + last) >> 1);
    let [left, right] = [first, last];
    while (left <= right) {
      while (at(left) < pivot) left += 1;
      while (at(right) > pivot) right -= 1;
      if (left > right) break;
      const larger = at(left);
      values[left] = at(right);
      values[right] = larger;
      left += 1;
      right -= 1;
    }
    if (wanted <= right) last = right;
    else if (wanted >= left) first = left;
    else break;
  }
  return at(wanted);
}
