// Finds the nth largest number without sorting all of them.

/** The `n`th largest value of all lists, or 0 if there are not more than `n`. */
export function nthLargest(lists: readonly Float32Array[], n: number): number {
  const values = new Float32Array(lists.reduce((sum, { length }) => sum + length, 0));
  if (values.length <= n) return 0;
  let filled = 0;
  for (const list of lists) {
    values.set(list, filled);
    filled += list.length;
  }
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
