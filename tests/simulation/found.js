/**
 * Seeds whose worlds did not hold once, with what was wrong there. `npm run test:simulation -- --found` runs them. A seed
 * says something as long as the simulation draws the same: each fault has a test of its own besides.
 *
 * @type {Readonly<Record<string, readonly (readonly [seed: number, was: string])[]>>}
 */
export const found = {
  worlds: [
    [7541, 'brings a drain back that resumes at once, by a deadline that another drain has used'],
    [10_013_844, 'an undo brought a drain back for a service that was started since'],
    [10_015_285, 'a judge compared members in their order'],
    [10_016_002, 'a judge took what nobody knows for wrong'],
    [10_012_217, 'a judge took what a deadline closes for what the drain has closed'],
    [20_021_389, 'a command whose last part was refused stayed open in the journal for ever'],
    [20_021_600, 'a server whose deletion was undone kept a status that nobody had seen'],
    [20_044_373, 'a judge did not know that a restore takes away what it replaces first'],
    [20_049_241, 'a service listed a server whose deletion stood, and no life could open the store'],
    [20_049_186, 'a restore took away what an abandoned command had created in vain'],
    [21_000_789, 'two abandoned commands had created the same'],
    [10_831, 'a restore took away what an abandoned command had created in vain'],
    [4474, 'the undo of a deletion that was taken back changed nothing, and was said to be possible'],
    [63_436, 'a service that failed anew, without a reason, was shown with the reason of before'],
    [84_179, 'two abandoned commands had created the same'],
    [1_052_286, 'a listener that its command had deleted and brought back was said to be undoable'],
    [1_054_119, 'a failed monitor that its command had deleted and brought back was said to be undoable'],
    [2_060_641, 'a judge took a failed monitor for one that looks at its servers'],
    [34_133, 'a call made again what a later command had changed, after an abandoned call had made the same'],
    [39_641, 'a judge took the reason of one failure for that of another, both said during a start'],
    [79_056, 'a call made again what its command had taken back, after an abandoned call had made the same'],
    [80_434, 'a server that an abandoned command had listed, and would have deleted later, stayed listed'],
    [86_081, 'a report that cannot be true was not told, after the store was lost during a recovery'],
    [87_382, 'a judge did not know that an undo takes back parts that settle after it was asked for'],
    [82_227, 'a call made again what a later command had changed, after an abandoned call had made the same'],
  ],
  '--plans': [
    [
      96_074_472,
      'an answer counted a connection as closed that was opened anew on another server, under the same id',
    ],
  ],
  '--scenarios': [
    [
      2775,
      'a listener stayed that a command had created in a service which it had started and stopped again',
    ],
    [7871, 'a filter that a command had created and deleted came and went again by an undo'],
    [
      39_653,
      'a judge did not know that clients can come to what an abandoned creation has left at the gateway',
    ],
    [3312, 'the judge of the way back asked an interface that had been told of no sessions'],
    [18_027, 'a judge did not know that a gateway which throws takes nothing back'],
    [26_434, 'the scripted gateway deleted a server to which a client had come since the decision'],
    [3531, 'an abandoned command was taken in at the next start, and put back what later ones had changed'],
    [4626, 'an abandoned deletion took a filter out of the list of a service that was created since'],
  ],
  '--store': [
    [1373, 'refused what a power failure had left: seven bytes of a header were the last ones of a sector'],
    [1006, 'lost a confirmed record: an earlier process could not sync the record before it, and ended'],
  ],
  '--fleet': [
    [9400, 'deletes a server that a part of a command of another node has put to use'],
    [38_676, 'never follows a user that a part of the command of another node has created'],
    [78_231, 'a judge did not know what a set-back brings back for a node that had gone on'],
    [14_346, 'opens with a store that has not kept the end of a command'],
    [1703, 'shows a list as the fleet has it while it still creates and deletes a server of that list'],
    [2789, 'a gateway had another time of day than its node, so that a new session came too late'],
    [100_967, 'a store that fails too late, after the last call, ended the process of the host'],
    [
      18_028,
      'is said to differ: after a set-back, the same commands led to the same revision in another order',
    ],
    [51_845, 'has a tag that is said to be old: an outage began and ended while the node looked for news'],
    [10_010_352, 'has listeners in another order than the log, after a set-back'],
    [10_010_353, 'has listeners in another order than the log, after a command that others have ended'],
    [10_010_588, 'leaves a server out of a list that it has put in the place of another one, answered late'],
    [70_004_556, 'counts as one that has followed a list which names a server in an older spelling'],
    [70_007_483, 'counts as one that has followed a list which names a server in an older spelling'],
    [70_008_434, 'has an abandoned command without end: its resource was deleted'],
    [70_029_443, 'is to delete a server that a service lists for which its gateway never answers'],
    [70_049_665, 'has followed a drain in part: its gateway has refused the rest and the way back'],
    [70_053_344, 'has followed a drain in part: its gateway has refused the rest and the way back'],
    [80_003_795, 'has stopped a service that must go, and waits for its sessions'],
    [
      80_033_754,
      'answers that nothing was done: the first of several parts was kept without an answer, then compacted',
    ],
    [80_038_107, 'lets a user act whose deletion it has stored, and has not heard that it was kept'],
    [80_049_566, 'has stopped a service that must go, and waits for its sessions'],
    [80_050_513, 'is said to have done what a set-back has met on its way back'],
    [81_004_350, 'answers that nothing was changed, although a set-back has lost the way back'],
    [
      81_006_400,
      'has followed a list in part, which names a server in whose place the fleet has another one',
    ],
    [
      82_004_061,
      'was ended although it was heard again: the record that ends its command waited for its turn',
    ],
    [83_012_806, 'closes, and shows a last change whose record may not have been kept'],
    [90_005_752, 'starts what runs already, gets no answer, and starts it again after a stop'],
    [
      90_007_722,
      'begins a command before the end of another one, of which a later part was kept without an answer',
    ],
    [90_008_054, 'shows its users in the order of an earlier moment, after a command that began there'],
    [95_003_519, 'has its command ended a second too early: it was heard between two beats of the observer'],
    [97_004_013, 'asks without end about a service that its gateway has deleted, after a set-back'],
    [98_030_812, 'has sessions of a service that a command still creates, after a set-back'],
    [
      99_063_904,
      'lists a server that its abandoned command has deleted, which others have created again and listed',
    ],
    [
      99_157_119,
      'shows its change with a number of its own: others changed the server again before they compacted the log',
    ],
  ],
};
